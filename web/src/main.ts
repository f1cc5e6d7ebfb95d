// Where the page begins.

import "./style/base.css";
import "./style/shell.css";
import "./style/chat.css";
import "./style/views.css";
import "./style/lens.css";
import "./style/files.css";
import "./parts/app.ts";
import { begin } from "./state/app.ts";

void begin();
