//! Words that say nothing about what is looked for.

use chitin_contract::StopWords;
use std::collections::HashSet;
use std::sync::LazyLock;

/// English.
const ENGLISH: &str = "a about above after ago an and anything are as at be because been before being below between but by \
    can could did do does during earlier everything find for from get give had has have he help how i if \
    in into is it just later may me might my nothing now of on or our over please recently she should \
    show something stuff tell that the them then these they thing things this those through to today \
    tomorrow under was we were what when where which while who why will with would yesterday you your";

/// Spanish.
const SPANISH: &str = "ahora antes ayer ayuda como con cuando cuándo cómo de del despues después donde dónde el ellas ellos \
    en entre es esa ese esta estar este favor fue fueron haber hacer hoy la las los mañana mi nosotras \
    nosotros o para pero por porque porqué que qué recientemente ser si sobre son tener tu tus un una \
    unas unos usted ustedes y yo";

/// Portuguese, without what is Spanish too.
const PORTUGUESE: &str = "agora ajuda amanhã com da depois e ela elas ele eles em essa esse eu fazer foi foram hoje mas meu \
    minha nos nós onde ontem os ou porquê quando quê recentemente se são ter um uma umas uns você vocês \
    é";

/// Arabic.
const ARABIC: &str = "أصبح أنا أو أين إلى ال الآن الى اليوم امس ب بالأمس بعد بل بين تكون تلك ثم ذلك ساعد صار على عن غدا \
    فضلا في قبل ك كان كانت كيف ل لكن لماذا مؤخرا ماذا متى مع ممكن من نحن هذا هذه هل هم هنا هناك هو هي و \
    يكون يمكن";

/// Korean. A word whose particle leaves one of these says nothing either.
const KOREAN: &str = "가 가다 같이 거 거기 것 곳 과 그 그것 그녀 그들 그래서 그러나 그러면 그런데 그리고 까지 께 나 나는 나를 나중 내가 내일 너 너무 누구 는 대로 더 도 되다 등 때 또 또는 \
    로 를 마다 만 많이 매우 무엇 뭐 밖에 보다 부탁 부터 분 수 아까 아니다 아주 어디 어떤 어떻게 어제 언제 없다 에 에게 에서 여기 오늘 오다 와 왜 우리 으로 은 을 의 이 \
    이것 이다 있다 잘 저 저것 저기 저희 전에 정말 제발 좀 주다 중 지금 처럼 최근 하다 하지만 한테";

/// Japanese.
const JAPANESE: &str = "あそこ あの ある あれ いつ いる から ここ こと この これ さっき しかし した して する そこ そして その それ ため だけ できる です でも どう どこ どれ なぜ なる の ます \
    また まで もの より 今 今日 何 前 後 明日 昨日 最近 誰";

/// Chinese.
const CHINESE: &str = "与 东西 为什么 之前 之后 也 了 事 事情 什么 今天 他 他们 以前 以后 会 但 但是 你 你们 做 再 刚才 到 去 又 只 可以 吗 吧 呀 告诉 呢 和 哪个 哪些 啊 啦 嘛 因为 在 \
    地 多少 她 如果 它 就 帮 帮忙 得 怎么 想 我 我们 或 所以 才 找 把 明天 昨天 是 有 来 现在 用 的 看 着 给 而 能 虽然 被 要 让 说 请 过 还 这 这个 这些 那 那个 \
    那些 都";

/// What an apostrophe leaves of English words.
const ENGLISH_ENDS: &str = "d don ll m re s t ve";

/// German.
const GERMAN: &str = "aber als am an auch auf aus bei bin bis da das dass dem den der des die doch du ein eine einem einen \
    einer es für gibt haben hat hatte ich ihr im in ist ja kann mein mit nach nicht noch nur oder sein \
    sich sie sind so um und uns von vor wann war waren warum was weil welche wenn wer werden wie wir \
    wird wo zu zum zur über";

/// French.
const FRENCH: &str = "ai au aux avec avez avons ce ces cette comment dans de des du elle en est et eu il ils je la le les \
    leur ma mais mes mon ne nous on ont ou où par pas pour pourquoi quand que quel quelle qui quoi sa se \
    ses son sont sur ta te tu un une vous à était été";

/// Italian.
const ITALIAN: &str = "a ai al alla anche che chi ci come con cosa da dal dalla dei del della delle di dove e ed era gli ha \
    hai ho i il in io la le lo ma mi mio nel nella noi non o per perché più quale quando quanto se sei \
    si sono su sul sulla tra tu un una è";

/// Russian.
const RUSSIAN: &str = "без был была были было быть в вам вас во вот все вы где да для до его ее если есть её же за и из или \
    их к как какая какие какой ко когда кто ли мне мы на над нам нас не него нет ни но о об он она они \
    оно от по под почему при про с со так там то ты у уже что чтобы эта эти это этот я";

/// Dutch.
const DUTCH: &str = "aan als bij dat de den der deze die dit door dus een en er geen had heb hebben heeft het hij hoe ik \
    in is je kan maar me met mijn na naar niet nog of om ons ook op over te tot uit van voor waar waarom \
    wanneer was wat we welke werd wie wij wordt ze zij zijn zo";

/// Stop words of one language that are telling in English or as names. Of many languages at once, these are kept.
const HOMOGRAPHS: &str =
    "ai bin com come con den die door dove ed eu favor hat met os pour son war";

static RECORDED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    set(&[
        ENGLISH, SPANISH, PORTUGUESE, ARABIC, KOREAN, JAPANESE, CHINESE,
    ])
});

static EXTENDED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let own = set(&[ENGLISH_ENDS, GERMAN, FRENCH, ITALIAN, RUSSIAN, DUTCH]);
    let telling = set(&[HOMOGRAPHS]);
    let both: HashSet<&str> = RECORDED.union(&own).copied().collect();
    both.difference(&telling).copied().collect()
});

static IN_KOREAN: LazyLock<HashSet<&str>> = LazyLock::new(|| set(&[KOREAN]));

fn set(lists: &[&'static str]) -> HashSet<&'static str> {
    lists.iter().flat_map(|list| list.split(' ')).collect()
}

/// Tells whether a word, in lower case, says nothing about what is looked for.
pub fn is_stop_word(word: &str, words: StopWords) -> bool {
    match words {
        StopWords::SevenLanguages => RECORDED.contains(word),
        StopWords::TwelveLanguages => EXTENDED.contains(word),
    }
}

/// Tells whether a word is a stop word of Korean.
pub(super) fn is_korean_stop_word(word: &str) -> bool {
    IN_KOREAN.contains(word)
}
