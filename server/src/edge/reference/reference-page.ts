/**
 * Renders an OpenAPI document as readable pages: an overview, and a page for each tag with its endpoints. It knows no
 * endpoint by name: everything in the document is on a page. The pages are complete without their script, which adds a
 * search, buttons that copy, and forms that send a request.
 */
import { type Html, html } from '../../kernel/html.ts';
import { inlineComponents } from './components.ts';
import { type Endpoint, endpointsOf, mediaOf, type OpenApiDocument } from './document.ts';
import { anchorOf, endpointSection, methodBadge } from './endpoint-section.ts';
import { type Chapter, introduction, type PlainRefusal } from './introduction.ts';
import { prose } from './prose.ts';
import { fieldsOf } from './schema-words.ts';

export interface ReferencePages {
  overview: Html;
  /** The pages of the groups, by the last part of their address. */
  groups: ReadonlyMap<string, Html>;
}

export function renderReference(given: OpenApiDocument, plainRefusals: PlainRefusal[] = []): ReferencePages {
  const document = inlineComponents(given);
  const reference: Reference = { document, chapters: introduction(plainRefusals), groups: groupByTag(document) };
  return {
    overview: layout(reference, overview(reference)),
    groups: new Map(
      reference.groups.map((group) => [
        group.slug,
        layout(reference, groupSection(group, serverUrlOf(document)), group),
      ]),
    ),
  };
}

interface Reference {
  document: OpenApiDocument;
  chapters: Chapter[];
  groups: Group[];
}

const serverUrlOf = (document: OpenApiDocument) => document.servers?.[0]?.url ?? '';

/** `current`: the group that the page shows; undefined for the overview. */
function layout({ document, chapters, groups }: Reference, content: Html, current?: Group): Html {
  const { title, version } = document.info;
  // Relative, because the service may be reached below a path: from /docs, and from /docs/group.
  const root = current ? '../' : '';
  const overviewPage = `${root}docs`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${current ? `${current.name} · ` : ''}${title} API reference</title>
<link rel="icon" href="${root}docs/icon.svg">
<link rel="stylesheet" href="${root}docs/style.css">
<script type="module" src="${root}docs/reference.js"></script>
</head>
<body class="reference">
<a class="skip" href="#content">Skip to content</a>
<header class="brand">
<a href="${overviewPage}" data-page><img src="${root}docs/icon.svg" alt="" width="24" height="24"> ${title}</a> <span class="version">${version}</span>
</header>
<nav class="contents" aria-label="Contents">
<p class="search" hidden><label><span class="hidden">Search</span><input type="search" id="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false"></label></p>
<p id="nothing-found" role="status" hidden>No results.</p>
${contentsGroup({
  name: 'Introduction',
  page: overviewPage,
  isCurrent: !current,
  entries: chapters.map(
    ({ anchor, title, text }) =>
      html`<li data-words="${text.text.replace(/<[^>]*>|\s+/g, ' ')}"><a href="${overviewPage}#${anchor}" data-page>${title}</a></li>\n`,
  ),
})}
${groups.map((group) => {
  const page = `${root}docs/${group.slug}`;
  const entries = group.endpoints.map((endpoint) => contentsEntry(endpoint, page));
  return contentsGroup({ name: group.name, page, isCurrent: group === current, entries });
})}
</nav>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`;
}

function overview({ document, chapters, groups }: Reference): Html {
  const { title, description } = document.info;
  return html`<h1>${title} API reference</h1>
${description === undefined ? '' : html`<p class="lead">${prose(description)}</p>`}
<dl class="facts">
<div><dt>Base URL</dt><dd><code>${serverUrlOf(document)}</code></dd></div>
<div><dt>OpenAPI</dt><dd><a href="openapi.json">OpenAPI 3.1 document</a></dd></div>
</dl>
<ul class="groups">
${groups.map(
  ({ slug, name, description, endpoints }) =>
    html`<li><a href="docs/${slug}" data-page><strong>${name}</strong> <span class="aside">${endpoints.length}</span></a>${description === undefined ? '' : html`<p>${prose(description)}</p>`}</li>\n`,
)}</ul>
${chapters.map(
  ({ anchor, title, text }) => html`
<section class="chapter" id="${anchor}" aria-labelledby="${anchor}-title">
<h2 id="${anchor}-title"><a href="#${anchor}">${title}</a></h2>
${text}
</section>`,
)}`;
}

function groupSection({ name, description, endpoints }: Group, serverUrl: string): Html {
  return html`<h1>${name}</h1>
${description === undefined ? '' : html`<p class="lead">${prose(description)}</p>`}
<section class="group">
${endpoints.map((endpoint) => endpointSection(endpoint, serverUrl))}
</section>`;
}

/** The logo: one square inside another. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect fill="#0f6a62" x="1" y="1" width="22" height="22" rx="5"/>' +
  '<path fill="#fff" d="M12 5.5 18.5 12 12 18.5 5.5 12z"/></svg>';

interface ContentsGroup {
  name: string;
  page: string;
  isCurrent: boolean;
  entries: Html[];
}

/** The entries of a group are shown on the group's own page, and while a search finds some of them. */
function contentsGroup({ name, page, isCurrent, entries }: ContentsGroup): Html {
  return html`<div class="contents-group${isCurrent ? ' current' : ''}" data-name="${name}">
<p class="title"><a href="${page}" data-page>${name}</a></p>
<ul aria-label="${name}">
${entries}</ul>
</div>
`;
}

function contentsEntry(endpoint: Endpoint, page: string): Html {
  const { method, path, summary = path, deprecated } = endpoint;
  const text = deprecated ? html`<s>${summary}</s>` : summary;
  return html`<li data-words="${searchWords(endpoint)}"><a href="${page}#${anchorOf(endpoint)}" data-page>${methodBadge(method)} <span>${text}</span></a></li>\n`;
}

/** The words by which a search finds an endpoint, besides its title. */
function searchWords({ path, description = '', parameters = [], requestBody }: Endpoint): string {
  const fields = fieldsOf(mediaOf(requestBody)?.schema ?? {}).map(({ name }) => name);
  return [path, description, ...parameters.map(({ name }) => name), ...new Set(fields)].join(' ');
}

interface Group {
  slug: string;
  name: string;
  description?: string;
  endpoints: Endpoint[];
}

/** Tags in the order of the document's list, then tags that the list lacks. */
function groupByTag(document: OpenApiDocument): Group[] {
  const groups = new Map<string, Group>();
  const groupOf = (name: string, description?: string): Group => {
    const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const group = groups.get(name) ?? { slug, name, ...(description ? { description } : {}), endpoints: [] };
    groups.set(name, group);
    return group;
  };
  for (const { name, description } of document.tags ?? []) groupOf(name, description);
  for (const endpoint of endpointsOf(document)) groupOf(endpoint.tags?.[0] ?? 'Other').endpoints.push(endpoint);
  return [...groups.values()].filter(({ endpoints }) => endpoints.length > 0);
}
