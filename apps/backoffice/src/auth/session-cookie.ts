/** The token of a browser: a cookie that scripts cannot read and other sites cannot send. */

const NAME = "backoffice_session";

export function sessionCookie(token: string | null, maxAgeS: number, isSecure: boolean): string {
  const age = token === null ? 0 : maxAgeS;
  const secure = isSecure ? "; Secure" : "";
  return `${NAME}=${token ?? ""}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}

export function cookieOf(header: string | string[] | undefined): string | null {
  for (const part of String(header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === NAME && value) return value;
  }
  return null;
}
