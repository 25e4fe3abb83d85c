/** The same for a terminal. */
import { copyText } from "../state/copy.ts";

export function CopyButtons({ cli, curl }: { cli: string; curl: string }) {
  return (
    <span class="row">
      <button type="button" class="btn small" onClick={() => void copyText(cli, "The command")}>
        Copy as CLI
      </button>
      <button type="button" class="btn small" onClick={() => void copyText(curl, "The curl line")}>
        Copy as curl
      </button>
    </span>
  );
}
