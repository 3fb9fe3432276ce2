/**
 * Renders an OpenAPI document as one readable page, without scripts: an introduction, then every endpoint under its tag.
 * It knows no endpoint by name; one that is in the document is on the page.
 */
import { type Html, html } from '../html.ts';
import { type Endpoint, endpointsOf, type OpenApiDocument } from './document.ts';
import { anchorOf, endpointSection, methodBadge } from './endpoint-section.ts';
import { introduction, type PlainRefusal } from './introduction.ts';
import { prose } from './prose.ts';

export function renderReference(document: OpenApiDocument, plainRefusals: PlainRefusal[] = []): Html {
  const { title, version, description } = document.info;
  const serverUrl = document.servers?.[0]?.url ?? '';
  const groups = groupByTag(document);
  const chapters = introduction(plainRefusals);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<link rel="stylesheet" href="docs/style.css">
</head>
<body class="reference">
<a class="skip" href="#content">Skip to the content</a>
<header class="brand">
<a href="#content">${mark} ${title}</a> <span class="version">${version}</span>
</header>
<nav class="contents" aria-label="Contents">
<details>
<summary>Contents</summary>
${contentsGroup(
  'Introduction',
  chapters.map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>\n`),
)}
${groups.map(({ name, endpoints }) => contentsGroup(name, endpoints.map(contentsEntry)))}
</details>
</nav>
<main id="content" tabindex="-1">
<h1>${title} API reference</h1>
${description === undefined ? '' : html`<p class="lead">${prose(description)}</p>`}
<dl class="facts">
<div><dt>Base URL</dt><dd><code>${serverUrl}</code></dd></div>
<div><dt>Machine-readable</dt><dd><a href="openapi.json">OpenAPI 3.1 document</a></dd></div>
</dl>
${chapters.map(
  ({ anchor, title, text }) => html`
<section class="chapter" id="${anchor}" aria-labelledby="${anchor}-title">
<h2 id="${anchor}-title"><a href="#${anchor}">${title}</a></h2>
${text}
</section>`,
)}
${groups.map(
  ({ anchor, name, description, endpoints }) => html`
<section class="group" id="${anchor}" aria-labelledby="${anchor}-title">
<h2 id="${anchor}-title"><a href="#${anchor}">${name}</a></h2>
${description === undefined ? '' : html`<p>${prose(description)}</p>`}
${endpoints.map((endpoint) => endpointSection(endpoint, serverUrl))}
</section>`,
)}
</main>
</body>
</html>
`;
}

/** One square let into another. */
const mark = html`<svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><rect class="ground" x="1" y="1" width="22" height="22" rx="5"/><path class="let-in" d="M12 5.5 18.5 12 12 18.5 5.5 12z"/></svg>`;

function contentsGroup(title: string, entries: Html[]): Html {
  return html`<p class="title">${title}</p>
<ul aria-label="${title}">
${entries}</ul>
`;
}

function contentsEntry(endpoint: Endpoint): Html {
  const { method, path, summary = path, deprecated } = endpoint;
  const text = deprecated ? html`<s>${summary}</s>` : summary;
  return html`<li><a href="#${anchorOf(endpoint)}">${methodBadge(method)} <span>${text}</span></a></li>\n`;
}

interface Group {
  anchor: string;
  name: string;
  description?: string;
  endpoints: Endpoint[];
}

/** Tags in the order the document lists them, then any it does not list. */
function groupByTag(document: OpenApiDocument): Group[] {
  const groups = new Map<string, Group>();
  const groupOf = (name: string, description?: string): Group => {
    const anchor = `about-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
    const group = groups.get(name) ?? { anchor, name, ...(description ? { description } : {}), endpoints: [] };
    groups.set(name, group);
    return group;
  };
  for (const { name, description } of document.tags ?? []) groupOf(name, description);
  for (const endpoint of endpointsOf(document)) groupOf(endpoint.tags?.[0] ?? 'Other').endpoints.push(endpoint);
  return [...groups.values()].filter(({ endpoints }) => endpoints.length > 0);
}
