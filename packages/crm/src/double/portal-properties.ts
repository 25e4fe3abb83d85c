/** The properties of a portal: what exists from the start, and what a value must look like. */

export const OBJECT_TYPES = [
  ...(["contacts", "companies", "deals", "notes", "calls", "tasks", "tickets"] as const),
] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

export interface PropertyDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: "string" | "number" | "date" | "datetime" | "bool" | "enumeration";
  readonly fieldType: string;
  readonly groupName: string;
  readonly hasUniqueValue: boolean;
  readonly options: readonly { readonly label: string; readonly value: string }[];
}

/** Of one input: what HubSpot answers in `errors`. */
export interface InputError {
  readonly message: string;
  readonly code: string;
  readonly context: Readonly<Record<string, readonly string[]>>;
}

type Kind = PropertyDefinition["type"];

const STANDARD: Readonly<Record<ObjectType, Readonly<Record<string, Kind>>>> = {
  contacts: {
    ...{ email: "string", firstname: "string", lastname: "string", phone: "string" },
    ...{ company: "string", jobtitle: "string", lifecyclestage: "string", website: "string" },
  },
  companies: {
    ...{ name: "string", domain: "string", phone: "string", city: "string", country: "string" },
    ...{ industry: "string", numberofemployees: "number", description: "string" },
  },
  deals: {
    ...{ dealname: "string", amount: "number", dealstage: "string", pipeline: "string" },
    ...{ closedate: "datetime", description: "string" },
  },
  notes: { hs_timestamp: "datetime", hs_note_body: "string" },
  calls: {
    ...{ hs_timestamp: "datetime", hs_call_title: "string", hs_call_body: "string" },
    ...{ hs_call_duration: "number", hs_call_status: "string" },
  },
  tasks: {
    ...{ hs_timestamp: "datetime", hs_task_subject: "string", hs_task_body: "string" },
    ...{ hs_task_status: "string", hs_task_priority: "string" },
  },
  tickets: {
    ...{ subject: "string", content: "string", hs_pipeline: "string" },
    ...{ hs_pipeline_stage: "string", hs_ticket_priority: "string" },
  },
};

/** Without these an object cannot be made. */
export const REQUIRED: Readonly<Record<ObjectType, readonly string[]>> = {
  ...{ contacts: [], companies: [], deals: ["dealname"] },
  ...{ notes: ["hs_timestamp"], calls: ["hs_timestamp"], tasks: ["hs_timestamp"] },
  tickets: ["subject", "hs_pipeline_stage"],
};

const GROUPS: Readonly<Record<ObjectType, string>> = {
  ...{ contacts: "contactinformation", companies: "companyinformation", deals: "dealinformation" },
  ...{ notes: "note", calls: "call", tasks: "task", tickets: "ticketinformation" },
};

const FIELD_TYPES: Readonly<Record<Kind, readonly string[]>> = {
  string: ["text", "textarea", "html", "phonenumber"],
  number: ["number"],
  date: ["date"],
  datetime: ["date"],
  bool: ["booleancheckbox"],
  enumeration: ["select", "radio", "checkbox", "booleancheckbox"],
};

export function standardProperties(type: ObjectType): Map<string, PropertyDefinition> {
  return new Map(
    Object.entries(STANDARD[type]).map(([name, kind]) => [
      name,
      {
        ...{ name, label: name, type: kind, fieldType: FIELD_TYPES[kind][0]! },
        ...{ groupName: GROUPS[type], options: [] },
        hasUniqueValue: type === "contacts" && name === "email",
      },
    ]),
  );
}

const MAX_UNIQUE = 10;
const WORDS = [
  ...["name", "label", "type", "fieldType", "groupName", "hasUniqueValue", "options"],
  ...["description", "formField", "hidden"],
];

/** A property that a caller wants to make, or what is wrong with it. */
export function checkDefinition(
  type: ObjectType,
  given: unknown,
  existing: ReadonlyMap<string, PropertyDefinition>,
): PropertyDefinition | { readonly wrong: string } {
  if (typeof given !== "object" || given === null) return { wrong: "the body must be an object" };
  const unknown = Object.keys(given).find((word) => !WORDS.includes(word));
  if (unknown !== undefined) return { wrong: `unknown field ${unknown}` };
  const made = { hasUniqueValue: false, options: [], ...given } as unknown as PropertyDefinition;
  if (typeof made.name !== "string" || !/^[a-z][a-z0-9_]{0,99}$/.test(made.name)) {
    return { wrong: "name must be lower case letters, digits and _" };
  }
  if (typeof made.label !== "string" || made.label === "") return { wrong: "label is required" };
  if (!Object.hasOwn(FIELD_TYPES, made.type)) return { wrong: "type is not one of the types" };
  if (!FIELD_TYPES[made.type].includes(made.fieldType)) {
    return { wrong: `fieldType ${made.fieldType} does not fit type ${made.type}` };
  }
  if (made.groupName !== GROUPS[type]) {
    return { wrong: `property group ${made.groupName} does not exist` };
  }
  const isListed = made.type === "enumeration";
  if (isListed !== made.options.length > 0) return { wrong: "options are for enumerations" };
  if (made.hasUniqueValue && made.type !== "string" && made.type !== "number") {
    return { wrong: "only texts and numbers can be unique" };
  }
  const unique = [...existing.values()].filter(({ hasUniqueValue }) => hasUniqueValue).length;
  if (made.hasUniqueValue && unique >= MAX_UNIQUE) return { wrong: "too many unique properties" };
  return made;
}

/** Null: the value fits. */
export function wrongValue(definition: PropertyDefinition, value: unknown): InputError | null {
  const { name, type, options } = definition;
  const wrong = (code: string, why: string): InputError => ({
    ...{ message: `Property "${name}": ${why}`, code },
    context: { propertyName: [name] },
  });
  if (typeof value !== "string") return wrong("INVALID_TYPE", "a value is a text");
  if (value === "") return null;
  if (value.length > 65_536) return wrong("VALUE_TOO_LONG", "the value is too long");
  if (name === "email" && !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value)) {
    return wrong("INVALID_EMAIL", `${value} is not a valid email address`);
  }
  switch (type) {
    case "string":
      return null;
    case "number":
      return Number.isFinite(Number(value)) ? null : wrong("INVALID_NUMBER", "not a number");
    case "bool":
      return value === "true" || value === "false"
        ? null
        : wrong("INVALID_BOOLEAN", "not true or false");
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
        ? null
        : wrong("INVALID_DATE", "not a date such as 2026-11-18");
    case "datetime":
      return Number.isNaN(Date.parse(value)) && !/^\d{12,}$/.test(value)
        ? wrong("INVALID_DATE", "not an instant such as 2026-11-18T06:00:00Z")
        : null;
    case "enumeration":
      return options.some((option) => option.value === value)
        ? null
        : wrong(
            "INVALID_OPTION",
            `${value} was not one of the allowed options: ${options.map((one) => one.value).join(", ")}`,
          );
  }
}
