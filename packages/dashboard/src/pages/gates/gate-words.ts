/** A closed breaker lets jobs pass: said in words, since many expect the opposite. */
import type { Gate } from "../../api/types.ts";
import type { Tone } from "../../components/texts.tsx";

const TONES: Readonly<Record<Gate["state"], Tone>> = {
  ...{ closed: "ok", "half-open": "warn", open: "bad" },
};
const WORDS: Readonly<Record<Gate["state"], string>> = {
  ...{ closed: "lets pass", "half-open": "probes", open: "holds back" },
};

export function gateTone(state: Gate["state"]): Tone {
  return TONES[state];
}

export function gateWords(state: Gate["state"]): string {
  return WORDS[state];
}
