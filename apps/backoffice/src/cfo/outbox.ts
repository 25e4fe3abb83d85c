/** Every notification, sent or not: who gets it, and when it went out. */
import { Inject, Injectable } from "@nestjs/common";
import { Data } from "../data/data.ts";
import type { Row } from "../data/tables.ts";
import { Mailer } from "./mailer.ts";

export interface Notification {
  /** Of the job: a retry is the same notification. */
  readonly id: string;
  readonly companyId: string | null;
  readonly subject: string;
  readonly body: string;
  readonly recipients: readonly string[];
}

const SHOWN = 100;

@Injectable()
export class Outbox {
  constructor(
    @Inject(Data) private readonly data: Data,
    @Inject(Mailer) private readonly mailer: Mailer,
  ) {}

  /** A retry goes on with those that were not sent. Throws if one could not be: the job is tried again. */
  async deliver(notification: Notification): Promise<{ recipients: number; sent: number }> {
    const { id, companyId, subject, body, recipients } = notification;
    let sent = 0;
    for (const recipient of recipients) {
      const key = `${id}:${recipient}`;
      const [known] = await this.data.find("outbox", { id: key });
      if (!known) {
        const createdAt = new Date().toISOString();
        await this.data.put("outbox", [
          { ...{ id: key, companyId, recipient, subject, body, createdAt, via: "outbox" } },
        ]);
      }
      if (!this.mailer.isConfigured || (known?.sentAt ?? null) !== null) continue;
      await this.mailer.send({ id: key, to: recipient, subject, text: body });
      await this.data.change(
        "outbox",
        { id: key },
        { sentAt: new Date().toISOString(), via: "smtp" },
      );
      sent += 1;
    }
    return { recipients: recipients.length, sent };
  }

  newest(limit = SHOWN): Promise<Row<"outbox">[]> {
    return this.data.find("outbox", {}, { orderBy: "createdAt", newestFirst: true, limit });
  }
}
