import { type Html, html } from '../kernel/html.ts';

/** A page that says one thing. `docs`: where the style sheet of the API reference is. */
export const noticePage = (docs: string, title: string, text: Html | string) => html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${docs}/icon.svg">
<link rel="stylesheet" href="${docs}/style.css">
<body class="notice">
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`;
