/** Mail by SMTP where that is configured. Without it, mail waits in the outbox, where people can read it. */
import { Inject, Injectable, type OnModuleDestroy } from "@nestjs/common";
import { createTransport, type Transporter } from "nodemailer";
import { SETTINGS, type Settings } from "../config/settings.ts";

export interface Mail {
  /** The same mail again has the same: receivers drop it. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const TIMEOUT_MS = 20_000;

@Injectable()
export class Mailer implements OnModuleDestroy {
  readonly #transport: Transporter | null;
  readonly #from: string;

  constructor(@Inject(SETTINGS) { smtpUrl, mailFrom }: Settings) {
    this.#from = mailFrom;
    this.#transport = smtpUrl === null ? null : createTransport(smtpUrl, { from: mailFrom });
  }

  get isConfigured(): boolean {
    return this.#transport !== null;
  }

  async send({ id, to, subject, text }: Mail): Promise<void> {
    if (this.#transport === null) throw new Error("SMTP_URL is not set: mail stays in the outbox");
    const messageId = `<${id}@backoffice>`;
    const sending = this.#transport.sendMail({ from: this.#from, to, subject, text, messageId });
    await Promise.race([sending, late()]);
  }

  onModuleDestroy(): void {
    this.#transport?.close();
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(
      () => reject(new Error(`the mail server did not answer within ${TIMEOUT_MS} ms`)),
      TIMEOUT_MS,
    ).unref();
  });
}
