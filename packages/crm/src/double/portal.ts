/** What a portal keeps: objects, their properties and associations. No HTTP here. */
import {
  OBJECT_TYPES,
  REQUIRED,
  standardProperties,
  wrongValue,
  type InputError,
  type ObjectType,
  type PropertyDefinition,
} from "./portal-properties.ts";

export interface PortalObject {
  readonly id: string;
  readonly properties: Record<string, string>;
  readonly createdAt: number;
  updatedAt: number;
}

/** Why an input was refused. */
export class Refusal extends Error {
  readonly category: "VALIDATION_ERROR" | "CONFLICT" | "OBJECT_NOT_FOUND";
  readonly errors: readonly InputError[];
  constructor(category: Refusal["category"], message: string, errors: readonly InputError[] = []) {
    super(message);
    this.category = category;
    this.errors = errors;
  }
}

export interface FoundPage {
  readonly total: number;
  readonly results: readonly PortalObject[];
  readonly after: string | null;
}

export interface Filter {
  readonly propertyName: string;
  readonly operator: "EQ" | "NEQ" | "IN" | "HAS_PROPERTY" | "NOT_HAS_PROPERTY";
  readonly value?: string;
  readonly values?: readonly string[];
}

export class Portal {
  readonly #objects = new Map<ObjectType, Map<string, PortalObject>>();
  readonly #properties = new Map<ObjectType, Map<string, PropertyDefinition>>();
  /** By object type and unique property: whose value it is. */
  readonly #unique = new Map<string, Map<string, string>>();
  readonly #associations = new Set<string>();
  readonly #now: () => number;
  #nextId = 101;

  constructor(now: () => number) {
    this.#now = now;
    for (const type of OBJECT_TYPES) {
      this.#objects.set(type, new Map());
      this.#properties.set(type, standardProperties(type));
    }
  }

  all(type: ObjectType): readonly PortalObject[] {
    return [...this.#objects.get(type)!.values()];
  }

  properties(type: ObjectType): Map<string, PropertyDefinition> {
    return this.#properties.get(type)!;
  }

  /** By id, or by the value of a unique property. */
  find(type: ObjectType, id: string, idProperty: string | null): PortalObject | null {
    const own = idProperty === null ? id : this.#idOf(type, idProperty, id);
    return (own !== undefined && this.#objects.get(type)!.get(own)) || null;
  }

  create(type: ObjectType, given: Readonly<Record<string, unknown>>): PortalObject {
    const properties = this.check(type, given);
    this.#demandRequired(type, properties);
    for (const [name, value] of this.#uniqueOf(type, properties)) {
      const taken = this.#idOf(type, name, value);
      if (taken === undefined) continue;
      const what = type === "contacts" ? "Contact" : type.slice(0, -1);
      throw new Refusal("CONFLICT", `${what} already exists. Existing ID: ${taken}`);
    }
    const now = this.#now();
    const made = { id: String(this.#nextId++), properties, createdAt: now, updatedAt: now };
    this.#objects.get(type)!.set(made.id, made);
    this.#index(type, made);
    return made;
  }

  update(type: ObjectType, id: string, given: Readonly<Record<string, unknown>>): PortalObject {
    const found = this.#objects.get(type)!.get(id);
    if (!found) throw new Refusal("OBJECT_NOT_FOUND", `no ${type} object ${id}`);
    const changes = this.check(type, given);
    for (const [name, value] of this.#uniqueOf(type, changes)) {
      const taken = this.#idOf(type, name, value);
      if (taken !== undefined && taken !== id) {
        throw new Refusal("CONFLICT", `${name} is taken. Existing ID: ${taken}`);
      }
    }
    this.#forget(type, found, changes);
    Object.assign(found.properties, changes);
    found.updatedAt = this.#now();
    this.#index(type, found);
    return found;
  }

  /** One input of a batch upsert. */
  upsert(
    type: ObjectType,
    input: { readonly id: string; readonly idProperty: string },
    given: Readonly<Record<string, unknown>>,
  ): { readonly object: PortalObject; readonly isNew: boolean } {
    const { id, idProperty } = input;
    this.#demandUnique(type, idProperty);
    const found = this.find(type, id, idProperty);
    if (found) return { object: this.update(type, found.id, given), isNew: false };
    return { object: this.create(type, { [idProperty]: id, ...given }), isNew: true };
  }

  /** Throws what an upsert would, and changes nothing. */
  checkUpsert(
    type: ObjectType,
    { id, idProperty }: { readonly id: string; readonly idProperty: string },
    given: Readonly<Record<string, unknown>>,
  ): void {
    this.#demandUnique(type, idProperty);
    const values = this.check(type, { [idProperty]: id, ...given });
    if (this.find(type, id, idProperty) === null) this.#demandRequired(type, values);
  }

  archive(type: ObjectType, id: string): void {
    this.#objects.get(type)!.delete(id);
    for (const [key, values] of this.#unique) {
      if (!key.startsWith(`${type}/`)) continue;
      for (const [value, owner] of values) if (owner === id) values.delete(value);
    }
  }

  associate(from: ObjectType, fromId: string, to: ObjectType, toId: string): void {
    for (const [type, id] of [
      [from, fromId],
      [to, toId],
    ] as const) {
      if (this.find(type, id, null) === null) {
        throw new Refusal("OBJECT_NOT_FOUND", `no ${type} object ${id}`);
      }
    }
    this.#associations.add(`${from}/${fromId}/${to}/${toId}`);
    this.#associations.add(`${to}/${toId}/${from}/${fromId}`);
  }

  associated(from: ObjectType, fromId: string, to: ObjectType): readonly string[] {
    const prefix = `${from}/${fromId}/${to}/`;
    return [...this.#associations]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length));
  }

  /** What the index knows: writes of the last `lagMs` are not in it yet. */
  search(
    type: ObjectType,
    groups: readonly (readonly Filter[])[],
    page: { readonly limit: number; readonly after: number; readonly lagMs: number },
  ): FoundPage {
    const until = this.#now() - page.lagMs;
    const known = this.all(type).filter(({ updatedAt }) => updatedAt <= until);
    const meant = known.filter(
      ({ properties }) =>
        groups.length === 0 ||
        groups.some((filters) => filters.every((filter) => fits(properties, filter))),
    );
    const results = meant.slice(page.after, page.after + page.limit);
    const next = page.after + results.length;
    return { total: meant.length, results, after: next < meant.length ? String(next) : null };
  }

  #demandUnique(type: ObjectType, idProperty: string): void {
    if (this.properties(type).get(idProperty)?.hasUniqueValue === true) return;
    throw new Refusal("VALIDATION_ERROR", `${idProperty} is not a unique property of ${type}`, [
      {
        ...{ message: `${idProperty} is not unique`, code: "PROPERTY_NOT_UNIQUE" },
        context: { propertyName: [idProperty] },
      },
    ]);
  }

  #demandRequired(type: ObjectType, properties: Readonly<Record<string, string>>): void {
    const missing = REQUIRED[type].filter((name) => !properties[name]);
    if (missing.length === 0) return;
    throw new Refusal("VALIDATION_ERROR", `required properties were not set: ${missing.join()}`, [
      {
        ...{ message: `required: ${missing.join()}`, code: "MISSING_REQUIRED_PROPERTY" },
        context: { propertyName: missing },
      },
    ]);
  }

  /** The values as they are kept, or a refusal. */
  check(type: ObjectType, given: Readonly<Record<string, unknown>>): Record<string, string> {
    const known = this.properties(type);
    const errors = Object.entries(given).flatMap(([name, value]): InputError[] => {
      const definition = known.get(name);
      if (!definition) {
        return [
          {
            ...{ message: `Property "${name}" does not exist`, code: "PROPERTY_DOESNT_EXIST" },
            context: { propertyName: [name] },
          },
        ];
      }
      const wrong = wrongValue(definition, value);
      return wrong === null ? [] : [wrong];
    });
    if (errors.length > 0) {
      throw new Refusal("VALIDATION_ERROR", "Property values were not valid", errors);
    }
    const values = given as Readonly<Record<string, string>>;
    const email = values["email"];
    return { ...values, ...(email !== undefined && { email: email.toLowerCase() }) };
  }

  #uniqueOf(type: ObjectType, properties: Readonly<Record<string, string>>) {
    const known = this.properties(type);
    return Object.entries(properties).filter(
      ([name, value]) => value !== "" && known.get(name)?.hasUniqueValue === true,
    );
  }

  #idOf(type: ObjectType, property: string, value: string): string | undefined {
    const meant = property === "email" ? value.toLowerCase() : value;
    return this.#unique.get(`${type}/${property}`)?.get(meant);
  }

  /** Values that are about to change belong to this object no longer. */
  #forget(type: ObjectType, { properties }: PortalObject, changes: object): void {
    for (const [name, value] of this.#uniqueOf(type, properties)) {
      if (name in changes) this.#unique.get(`${type}/${name}`)?.delete(value);
    }
  }

  #index(type: ObjectType, { id, properties }: PortalObject): void {
    for (const [name, value] of this.#uniqueOf(type, properties)) {
      const key = `${type}/${name}`;
      const values = this.#unique.get(key) ?? new Map<string, string>();
      values.set(value, id);
      this.#unique.set(key, values);
    }
  }
}

function fits(properties: Readonly<Record<string, string>>, filter: Filter): boolean {
  const { operator, value = "", values = [] } = filter;
  const own = properties[filter.propertyName];
  switch (operator) {
    case "EQ":
      return own === value;
    case "NEQ":
      return own !== value;
    case "IN":
      return own !== undefined && values.includes(own);
    case "HAS_PROPERTY":
      return own !== undefined && own !== "";
    case "NOT_HAS_PROPERTY":
      return own === undefined || own === "";
  }
}
