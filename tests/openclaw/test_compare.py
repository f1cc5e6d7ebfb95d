"""Holds the comparison of requests. Run: python3 -m unittest discover -s tests/openclaw"""
import unittest

from compare import compare, plain, take_apart

HERE = "/w"
KNOWN = {"internal-markers", "own-tools", "own-sections", "runtime-facts", "boundary-in-file", "masked-secrets", "read-pages"}


def request(files, user="hi", rest="", skills="", boundary=False):
    """Builds a request of a few lines, in the layout that the releases share."""
    blocks = "\n".join(f"## {HERE}/{name}\n{text}" for name, text in files)
    mark = "<!-- OPENCLAW_CACHE_BOUNDARY -->\n" if boundary else ""
    listed = f"<available_skills>\n{skills}\n</available_skills>\n" if skills else ""
    system = f"You are.\n## Tooling\nwords\n{listed}# Project Context\nguidance\n{blocks}\n{mark}## Silent Replies\n{rest}"
    return {"messages": [{"role": "system", "content": system}, {"role": "user", "content": user}], "tools": []}


def called(id, result="text", tool="read"):
    """Builds a request with one call and its result."""
    body = request([("AGENTS.md", "a")])
    body["messages"].append({"role": "assistant", "content": None, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}}]})
    body["messages"].append({"role": "tool", "tool_call_id": id, "content": result})
    return body


def differing(theirs, ours, known=KNOWN):
    return [(f["part"], f["whose"]) for f in compare(theirs, ours, HERE, [HERE], known) if f["verdict"] == "differs"]


class Comparing(unittest.TestCase):
    def test_words_of_a_program_may_differ(self):
        files = [("AGENTS.md", "rules"), ("SOUL.md", "calm")]
        self.assertEqual(differing(request(files, rest="their words"), request(files, rest="ours")), [])

    def test_the_first_byte_and_the_file_are_named(self):
        found = compare(request([("A.md", "one two")]), request([("A.md", "one too")]), HERE, [HERE])
        wrong = next(f for f in found if f["verdict"] == "differs")
        self.assertEqual((wrong["whose"], wrong["byte"]), ("A.md", 5))

    def test_a_file_may_hold_the_line_that_ends_the_files(self):
        files = [("TOOLS.md", "a\n<!-- OPENCLAW_CACHE_BOUNDARY -->"), ("MEMORY.md", "m")]
        names = [name for name, _ in take_apart(request(files, boundary=True), HERE)["files"]]
        self.assertEqual(names, ["TOOLS.md", "MEMORY.md"])
        lost = [("TOOLS.md", "a"), ("MEMORY.md", "m")]
        self.assertEqual(differing(request(files, boundary=True), request(lost)), [])
        self.assertEqual(differing(request(files, boundary=True), request(lost), {"internal-markers"}),
                         [("file", "TOOLS.md")])
        other = [("TOOLS.md", "b"), ("MEMORY.md", "m")]
        self.assertEqual(differing(request(files, boundary=True), request(other)), [("file", "TOOLS.md")])

    def test_order_of_files(self):
        one, two = ("AGENTS.md", "a"), ("SOUL.md", "s")
        self.assertEqual(differing(request([one, two]), request([two, one])), [("files", "order or choice of files")])

    def test_markers_of_ours_on_the_wire(self):
        files = [("AGENTS.md", "a")]
        self.assertEqual(differing(request(files, boundary=True), request(files)), [])
        self.assertEqual(differing(request(files, boundary=True), request(files), set()),
                         [("internal", "internal markers of the release")])
        self.assertEqual(differing(request(files), request(files, boundary=True)),
                         [("internal", "ours: internal markers on the wire")])

    def test_every_skill_counts(self):
        entry = "<skill><name>tide</name><location>/w/skills/tide/SKILL.md</location></skill>"
        bundled = "<skill><name>own</name><location>/opt/own/SKILL.md</location></skill>"
        files = [("AGENTS.md", "a")]
        self.assertEqual(differing(request(files, skills=bundled + entry), request(files, skills=bundled + entry)), [])
        self.assertEqual(differing(request(files, skills=bundled + entry), request(files, skills=entry)),
                         [("skills", "the release's own")])
        self.assertEqual(differing(request(files, skills=entry + bundled), request(files, skills=entry)),
                         [("skills", "which skills are listed")])

    def test_a_section_that_only_one_has_is_named(self):
        files = [("AGENTS.md", "a")]
        self.assertEqual(differing(request(files, rest="## Temporal Context\nnow"), request(files)),
                         [("sections", "which sections there are")])

    def test_times_and_machines_are_not_compared(self):
        self.assertEqual(plain("[Tue 2026-11-17 05:14 UTC] hi\n\nRuntime: agent=main | host=a | session=agent:main:main | sessionId=7"),
                         "{TIME UTC} hi\n\n{RUNTIME agent=main session=agent:main:main sessionId=ID}")
        files = [("AGENTS.md", "a")]
        self.assertEqual(differing(request(files, "[Tue 2026-11-17 05:14 UTC] hi"), request(files)),
                         [("history", "message 1, user")])

    def test_facts_of_the_runtime_are_the_release_s_own(self):
        theirs = request([("AGENTS.md", "a")])
        facts = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnone\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
        theirs["messages"].append({"role": "user", "content": [{"type": "text", "text": facts}]})
        self.assertEqual(differing(theirs, request([("AGENTS.md", "a")])), [])

    def test_up_to_where_a_provider_caches(self):
        def cached(system, tool, words):
            mark = lambda on: {"cache_control": {"type": "ephemeral"}} if on else {}
            return {"system": [{"type": "text", "text": "You are.", **mark(on)} for on in system],
                    "tools": [{"name": "read", **mark(tool)}],
                    "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **mark(words)}]}]}

        theirs = cached([True], True, True)
        self.assertEqual(differing(theirs, cached([True], True, True)), [])
        self.assertEqual(differing(theirs, cached([True, False], True, True)), [("cache", "system prompt and tools")])
        self.assertEqual(differing(theirs, cached([True], False, True)), [("cache", "system prompt and tools")])
        self.assertEqual(differing(theirs, cached([True], False, True), {*KNOWN, "cache-breakpoints"}), [])
        self.assertEqual(differing(theirs, cached([True], True, False), {*KNOWN, "cache-breakpoints"}),
                         [("cache", "message 1, user")])

    def test_masks_of_secrets(self):
        def differ(theirs, ours, known=KNOWN):
            return bool(differing(called("call1", theirs), called("call1", ours), known))

        self.assertFalse(differ('-H "Token: ***" here', '-H "Token: $HARBOUR_KEY" here'))
        self.assertFalse(differ("key sk_abc…wxyz.", "key [redacted]."))
        self.assertFalse(differ("key sk_123456789.", "key [redacted]."))
        self.assertTrue(differ('-H "Token: ***" here', '-H "Token: $HARBOUR_KEY" there'))
        self.assertTrue(differ('-H "Token: ***" here', '-H "Token: two words" here'))
        self.assertTrue(differ('-H "Token: ***" here', '-H "Token: $HARBOUR_KEY" here', KNOWN - {"masked-secrets"}))

    def test_pages_of_a_long_file(self):
        def differ(theirs, ours, tool="read", known=KNOWN):
            return bool(differing(called("call1", theirs, tool), called("call1", ours, tool), known))

        self.assertFalse(differ("one\n\ntwo\n", "one\ntwo\n"))
        self.assertFalse(differ("one\n[... 12 more characters truncated]", "one\n[... 11 more characters truncated]"))
        self.assertFalse(differ("one\n\n[More. Use offset=2.]", "one\ntwo\n"))
        self.assertTrue(differ("one\n\ntwo\n", "one\ntwo\n", tool="exec"))
        self.assertTrue(differ("one\n\ntwo\n", "one\ntwo\n", known=KNOWN - {"read-pages"}))
        self.assertTrue(differ("one\n\ntwo\n", "one\ntoo\n"))
        self.assertTrue(differ("one two\n", "onetwo\n"))
        self.assertTrue(differ("one\n[... 19 more characters truncated]", "one\n[... 11 more characters truncated]"))
        self.assertTrue(differ("one\n\n[More. Use offset=2.]", "ona\ntwo\n"))

    def test_ids_of_calls(self):
        self.assertEqual(differing(called("call1"), called("call1")), [])
        self.assertEqual([part for part, _ in differing(called("call1"), called("call_1"))], ["ids", "ids"])


if __name__ == "__main__":
    unittest.main()
