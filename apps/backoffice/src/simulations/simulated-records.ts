/**
 * What a simulation of system 3 creates: contacts, deals and activities of the CRM, by the client of system 4's sync and
 * so behind the same gates. Each is an upsert under the record's own key: an attempt that is made again makes nothing
 * twice.
 */
import { EXTERNAL_ID } from "@holdfast/crm";
import type { ActivityToDo, ActivityType, RecordToCreate } from "@holdfast/pacing";
import type { Crm } from "../crm/crm.ts";

/** Reserved: no mail ever goes there. */
const DOMAIN = "simulations.example";
const STAGES = { won: "closedwon", lost: "closedlost" } as const;
const OBJECTS = { note: "notes", call: "calls", task: "tasks", ticket: "tickets" } as const;

export interface SimulatedRecord {
  readonly contactId: string;
  readonly dealId: string | null;
}

export class SimulatedRecords {
  readonly #crm: Pick<Crm, "client">;

  constructor(crm: Pick<Crm, "client">) {
    this.#crm = crm;
  }

  readonly create = async (record: RecordToCreate): Promise<SimulatedRecord> => {
    const { simulation, index, externalKey, dueAt, deal, signal } = record;
    const client = await this.#crm.client();
    const email = `${externalKey}@${DOMAIN}`;
    const properties = { email, firstname: "Simulated", lastname: `${simulation} ${index}` };
    const contact = await client.upsertOne(
      "contacts",
      { idProperty: "email", id: email, properties },
      { signal },
    );
    if (deal === null) return { contactId: contact.id, dealId: null };
    const made = await client.upsertOne(
      "deals",
      {
        ...{ idProperty: EXTERNAL_ID, id: externalKey },
        properties: {
          ...{ dealname: `${simulation} ${index}`, dealstage: STAGES[deal] },
          closedate: dueAt.toISOString(),
        },
      },
      { signal },
    );
    const from = { object: "deals", id: made.id } as const;
    await client.associate(from, { object: "contacts", id: contact.id }, { signal });
    return { contactId: contact.id, dealId: made.id };
  };

  readonly act = async (activity: ActivityToDo): Promise<{ readonly id: string }> => {
    const { type, externalKey: id, record, job, signal } = activity;
    const client = await this.#crm.client();
    const object = OBJECTS[type];
    const properties = propertiesOf(type, activity, job.createdAt);
    const made = await client.upsertOne(
      object,
      { idProperty: EXTERNAL_ID, id, properties },
      { signal },
    );
    const { contactId } = record as SimulatedRecord;
    const to = { object: "contacts", id: contactId } as const;
    await client.associate({ object, id: made.id }, to, { signal });
    return { id: made.id };
  };
}

function propertiesOf(
  type: ActivityType,
  { simulation, index, ordinal }: ActivityToDo,
  at: Date,
): Readonly<Record<string, string>> {
  const text = `${type} ${ordinal + 1} of ${simulation} ${index}`;
  const hs_timestamp = at.toISOString();
  switch (type) {
    case "note":
      return { hs_timestamp, hs_note_body: text };
    case "call":
      return { hs_timestamp, hs_call_title: text, hs_call_status: "COMPLETED" };
    case "task":
      return { hs_timestamp, hs_task_subject: text, hs_task_status: "NOT_STARTED" };
    case "ticket":
      // The first stage of the pipeline that every portal has.
      return { subject: text, hs_pipeline: "0", hs_pipeline_stage: "1" };
  }
}
