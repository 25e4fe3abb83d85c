/** The customer a job concerns: `payload.companyId` if that is a UUID, else the group if it is one. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function companyOf(payloadText: string, group: string | null): string | null {
  // Nearly no payload has one: the text tells without being parsed.
  if (payloadText.includes('"companyId"')) {
    const company = companyIn(payloadText);
    if (company !== null) return company;
  }
  return group !== null && UUID.test(group) ? group.toLowerCase() : null;
}

function companyIn(payloadText: string): string | null {
  try {
    const payload = JSON.parse(payloadText) as { readonly companyId?: unknown } | null;
    const company = payload?.companyId;
    return typeof company === "string" && UUID.test(company) ? company.toLowerCase() : null;
  } catch {
    return null;
  }
}
