import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/components.css";
import { App } from "./app.tsx";
import { showEnvironment } from "./state/environment.ts";
import { findSession } from "./state/session.ts";
import { showTheme } from "./state/theme.ts";

showTheme();
showEnvironment();
const root = document.querySelector("#app");
if (root) render(<App />, root);
void findSession();
