/** The page itself. What is shown of a refusal is our own sentence, escaped all the same. */
export function loginPage(problem: string | null): string {
  const told = problem === null ? "" : `<p role="alert">${escaped(problem)}</p>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Back office · log in</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 12vh auto; padding: 0 1rem; }
  label { display: block; margin: 0 0 1rem; }
  input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; }
  button { font: inherit; padding: .5rem 1.5rem; }
  [role=alert] { color: #a11; }
  @media (prefers-color-scheme: dark) {
    body { background: #16181c; color: #e6e6e6; }
    [role=alert] { color: #f88; }
  }
</style>
<main>
  <h1>Back office</h1>
  <form method="post" action="/login">
    <label>E-mail <input name="email" type="email" autocomplete="username" required autofocus></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    ${told}
    <button type="submit">Log in</button>
  </form>
</main>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
