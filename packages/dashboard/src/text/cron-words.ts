/** A cron expression in words, where words are shorter than a riddle: "on Monday at 09:00". Null where they are not. */

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July", "August", "September"],
  ...["October", "November", "December"],
];
const MONTH_NAMES = MONTHS.map((name) => name.slice(0, 3).toUpperCase());

export function cronWords(cron: string): string | null {
  const fields = cron.trim().split(/\s+/);
  const [second, minute, hour, day, month, weekday] =
    fields.length === 5 ? ["0", ...fields] : fields;
  if (fields.length < 5 || fields.length > 6 || weekday === undefined) return null;
  const when = timeWords(second ?? "", minute ?? "", hour ?? "");
  const on = dayWords(day ?? "", month ?? "", weekday);
  if (when === null || on === null) return null;
  return on === "" ? (when.startsWith("at") ? `every day ${when}` : when) : `${on} ${when}`;
}

function timeWords(second: string, minute: string, hour: string): string | null {
  if (second === "*" && minute === "*" && hour === "*") return "every second";
  const seconds = stepOf(second);
  if (seconds !== null && minute === "*" && hour === "*") return `every ${seconds} seconds`;
  if (!/^\d+$/.test(second)) return null;
  const tail = second === "0" ? "" : `:${two(second)}`;
  if (minute === "*" && hour === "*") return "every minute";
  const minutes = stepOf(minute);
  if (minutes !== null && hour === "*") return `every ${minutes} minutes`;
  if (!/^\d+$/.test(minute)) return null;
  if (hour === "*") return `every hour at minute ${Number(minute)}`;
  const hours = stepOf(hour);
  if (hours !== null) return `every ${hours} hours at minute ${Number(minute)}`;
  if (!/^\d+(,\d+)*$/.test(hour)) return null;
  return `at ${and(hour.split(",").map((one) => `${two(one)}:${two(minute)}${tail}`))}`;
}

function dayWords(day: string, month: string, weekday: string): string | null {
  const inMonth = month === "*" ? "" : named(month, MONTHS, MONTH_NAMES, 1);
  if (inMonth === null) return null;
  const of = inMonth === "" ? "" : ` of ${inMonth}`;
  const isAny = (text: string): boolean => text === "*" || text === "?";
  if (isAny(day) && isAny(weekday)) return inMonth === "" ? "" : `every day${of}`;
  if (isAny(weekday)) {
    if (day.toUpperCase() === "L") return `on the last day${of === "" ? " of the month" : of}`;
    if (!/^\d+(,\d+)*$/.test(day)) return null;
    return `on day ${and(day.split(","))}${of === "" ? " of the month" : of}`;
  }
  if (!isAny(day)) return null;
  if (/^(1-5|MON-FRI)$/i.test(weekday)) return `from Monday to Friday${of}`;
  const days = named(weekday, DAYS, DAY_NAMES, 0);
  return days === null ? null : `on ${days}${of}`;
}

/** A list of names or numbers; Sunday is 0 and 7. */
function named(
  text: string,
  words: readonly string[],
  short: readonly string[],
  first: number,
): string | null {
  const found = text.split(",").map((one) => {
    const at = short.indexOf(one.toUpperCase());
    if (at !== -1) return words[at];
    return /^\d+$/.test(one) ? words[(Number(one) - first) % words.length] : undefined;
  });
  return found.some((one) => one === undefined) ? null : and(found as string[]);
}

/** Of every n-th; null where it is none. */
function stepOf(field: string): number | null {
  const found = /^(?:\*|0)\/(\d+)$/.exec(field);
  return found ? Number(found[1]) : null;
}

function and(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

function two(number: string): string {
  return number.padStart(2, "0");
}
