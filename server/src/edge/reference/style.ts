/**
 * The look of the pages that the service itself serves: the API reference, and short notices (`<body class="notice">`).
 * One file that loads no other: system fonts, light or dark as the reader's system is set, for narrow and wide windows.
 * Every text has a contrast of at least 4.5 to 1 to its background.
 */
const colors = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #12161c); --raised: light-dark(#f6f7f9, #1a2029); --line: light-dark(#dfe3e8, #2e3744);
  --text: light-dark(#1b222c, #e4e8ee); --quiet: light-dark(#566072, #9ba7b8); --accent: light-dark(#0f6a62, #5cc9bd);
  --get: light-dark(#0b5394, #86bdf5); --get-ground: light-dark(#e4effa, #16293f);
  --post: light-dark(#17663a, #7fd19c); --post-ground: light-dark(#e2f3e8, #14301f);
  --put: light-dark(#84500a, #e6b566); --put-ground: light-dark(#fbefda, #372810);
  --patch: light-dark(#64399b, #c5a6f2); --patch-ground: light-dark(#f0e9fa, #2b2040);
  --delete: light-dark(#a1261d, #f39b92); --delete-ground: light-dark(#fce8e6, #401c19);
}
`;

const text = `
*, ::before, ::after { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1, h2, h3, p, dl, dd, ul, figure, pre, table { margin: 0; }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: clamp(1.75rem, 1.3rem + 2vw, 2.4rem); letter-spacing: -.02em; }
h2 { font-size: 1.25rem; }
h3 { font-size: .95rem; }
p { max-width: 70ch; overflow-wrap: break-word; }
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
p code, dd code, td code { display: inline-block; max-width: 100%; background: var(--raised); border: 1px solid var(--line);
  border-radius: 4px; padding: 0 .3em; line-height: 1.35; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre code, td pre code { display: inline; background: none; border: 0; padding: 0; line-height: inherit; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 1rem; top: -4rem; z-index: 1; background: var(--ground); padding: .5rem 1rem;
  border: 2px solid var(--accent); border-radius: 6px; }
.skip:focus { top: 1rem; }
`;

const frame = `
.reference { display: grid; grid-template-columns: minmax(0, 1fr); }
.brand { display: flex; align-items: center; gap: .6rem; padding: 1rem clamp(1rem, 4vw, 2.5rem);
  border-bottom: 1px solid var(--line); }
.brand a { display: flex; align-items: center; gap: .6rem; color: inherit; text-decoration: none; font-weight: 650;
  font-size: 1.1rem; }
.version { color: var(--quiet); font-size: .85rem; }
main { padding: 2rem clamp(1rem, 4vw, 2.5rem) 6rem; min-width: 0; }

.contents { padding: .75rem clamp(1rem, 4vw, 2.5rem); border-bottom: 1px solid var(--line); font-size: .9rem;
  max-height: 40vh; overflow-y: auto; scrollbar-width: thin; }
.contents .title { margin: 1.1rem 0 .3rem; color: var(--quiet); font-size: .75rem; font-weight: 650; letter-spacing: .06em;
  text-transform: uppercase; }
.contents ul { list-style: none; padding: 0; }
.contents li a { display: flex; align-items: baseline; gap: .6rem; padding: .3rem .5rem; margin: 0 -.5rem; border-radius: 6px;
  color: inherit; text-decoration: none; line-height: 1.35; }
.contents .title a { color: inherit; text-decoration: none; }
.contents .title a:hover { color: var(--accent); }
.contents .search { margin: .5rem 0; }
.contents input { width: 100%; }
.contents-group:not(.current, .unfolded) ul { display: none; }
.contents-group.current > .title a { color: var(--accent); }
.contents li a:hover { background: var(--raised); color: var(--accent); }
.contents a .method { flex: none; width: 3.6em; padding: 0; background: none; font-size: .65rem; text-align: left; }
.contents s { color: var(--quiet); }

@media (min-width: 60rem) {
  .reference { grid-template: auto 1fr / 18.5rem minmax(0, 1fr); min-height: 100vh; }
  .brand { padding: 1.25rem 1.5rem .75rem; border-bottom: 0; }
  .contents { position: sticky; top: 0; align-self: start; max-height: 100vh; padding: 0 1.5rem 2rem; border-bottom: 0; }
  main { grid-area: 1 / 2 / 3 / 3; padding-top: 2.5rem; max-width: 62rem; border-left: 1px solid var(--line); }
}
`;

const content = `
.lead { margin-top: .75rem; font-size: 1.1rem; color: var(--quiet); }
.facts { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin-top: 1.25rem; }
dt { font-weight: 600; }
.facts dt { color: var(--quiet); font-size: .8rem; font-weight: 500; }
.chapter { margin-top: 2.5rem; max-width: 62rem; }
.chapter > * + * { margin-top: .9rem; }
.kinds { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: 1rem; }
.kinds > div { border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; }
.kinds dd { margin-top: .35rem; font-size: .92rem; }
.pair { display: grid; align-items: start; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 1rem; }
.group { margin-top: 1rem; }
h2 a { color: inherit; text-decoration: none; }
h2 a:hover { text-decoration: underline; }

.endpoint { margin-top: 2.5rem; padding-top: 2rem; border-top: 1px solid var(--line); }
.group > .endpoint:first-child { border-top: 0; padding-top: 0; margin-top: 2rem; }
:target h2 { color: var(--accent); }
.endpoint > * + * { margin-top: .75rem; }
.endpoint h3 { margin: 1.75rem 0 .4rem; }
.endpoint .sides > div:first-child > :first-child { margin-top: 1rem; }
.route { display: flex; flex-wrap: wrap; align-items: baseline; gap: .4rem .6rem; max-width: none; background: var(--raised);
  border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; }
.route code { display: inline; background: none; border: 0; padding: 0; font-size: .95em; min-width: 0; }
.method { display: inline-block; border-radius: 5px; padding: .1em .5em; font: 700 .75rem/1.6 ui-monospace, SFMono-Regular,
  Menlo, Consolas, "Liberation Mono", monospace; letter-spacing: .02em; }
${['get', 'post', 'put', 'patch', 'delete']
  .map((method) => `.method.${method} { color: var(--${method}); background: var(--${method}-ground); }`)
  .join('\n')}
.deprecated { display: inline-block; vertical-align: .1em; border-radius: 5px; padding: .1em .5em; font-size: .75rem;
  color: var(--put); background: var(--put-ground); }
.token { color: var(--quiet); font-size: .92rem; }
.aside { color: var(--quiet); font-weight: 400; }
.status { display: inline-block; border-radius: 5px; padding: 0 .45em; font: 600 .8rem/1.6 ui-monospace, SFMono-Regular, Menlo,
  Consolas, "Liberation Mono", monospace; background: var(--raised); border: 1px solid var(--line); }
.status.ok { color: var(--post); background: var(--post-ground); border-color: transparent; }

table { width: 100%; border-collapse: collapse; font-size: .9rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: .55rem 1rem .55rem 0; border-bottom: 1px solid var(--line);
  font-weight: 400; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-size: .78rem; padding-block: .3rem; }
.fields th:first-child { width: 30%; }
.fields th:nth-child(2), .fields td:nth-child(2) { width: 25%; overflow-wrap: anywhere; }
.fields tbody th code { font-weight: 600; }
.holder { color: var(--quiet); font-weight: 400; }
.note { display: block; font-size: .78rem; color: var(--quiet); }
.note.required { color: var(--delete); }
.example { display: block; margin-top: .2rem; color: var(--quiet); font-size: .85rem; }
.errors th:first-child { width: 4.5rem; }
.errors td:nth-child(2) { width: 42%; font-weight: 550; }
td pre { padding: .4rem .7rem; font-size: .9em; line-height: 1.45; }

summary { cursor: pointer; }
.chapter summary { font-weight: 600; font-size: .92rem; }
.chapter details table { margin-top: .6rem; }
.errors { margin-top: 1.75rem; }
.errors summary h3 { display: inline; margin: 0 .4rem 0 .1rem; }
.errors table { margin-top: .5rem; }
.examples { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; margin-top: 1.75rem; align-content: start; }
figcaption { margin-bottom: .35rem; color: var(--quiet); font-size: .8rem; font-weight: 600; }
figure pre { font-size: .92rem; }

@media (min-width: 96rem) {
  main { max-width: 92rem; }
  .sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 32rem); gap: 0 3rem; }
  .examples { position: sticky; top: 1.5rem; align-self: start; margin-top: 1rem; }
}
`;

const tools = `
input, textarea, button { font: inherit; color: inherit; }
input, textarea { background: var(--ground); border: 1px solid var(--quiet); border-radius: 6px; padding: .35rem .6rem; }
button { background: var(--raised); border: 1px solid var(--quiet); border-radius: 6px; padding: .3rem .8rem; cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
button:disabled { opacity: .6; cursor: default; }
[hidden] { display: none !important; }
figure { position: relative; }
.copy { font-size: .75rem; padding: .1rem .5rem; }
figure > .copy { position: absolute; top: 0; right: 0; }
.route > .copy { margin-left: auto; }
.groups { list-style: none; padding: 0; margin-top: 2rem; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); }
.groups li { border: 1px solid var(--line); border-radius: 10px; padding: .9rem 1.1rem; }
.groups a { color: inherit; text-decoration: none; }
.groups a:hover strong { color: var(--accent); text-decoration: underline; }
.groups p { margin-top: .25rem; font-size: .92rem; color: var(--quiet); }
.trying summary { font-weight: 600; font-size: .92rem; color: var(--accent); }
.try { display: grid; gap: .75rem; margin-top: .75rem; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; }
.try label { display: grid; gap: .25rem; font-size: .9rem; }
.try textarea { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  resize: vertical; }
.try .note { display: inline; }
.try button { background: var(--accent); color: var(--ground); border-color: transparent; font-weight: 600; }
.try button:hover { color: var(--ground); filter: brightness(1.1); }
.try output { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow-y: auto;
  font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.try output:not(:empty) { padding: .75rem; background: var(--raised); border-radius: 6px; }
`;

const narrow = `
@media (max-width: 40rem) {
  thead { display: none; }
  table, tbody, tr, th, td, .fields th:first-child, .fields td:nth-child(2), .errors th:first-child,
    .errors td:nth-child(2) { display: block; width: auto; }
  tr { padding: .6rem 0; border-bottom: 1px solid var(--line); }
  th, td { padding: .1rem 0; border: 0; }
  .note { display: inline; margin-left: .4rem; }
  .fields td:nth-child(2) { color: var(--quiet); }
}
`;

const notice = `
.notice { display: grid; min-height: 100vh; place-items: center; padding: 1rem; }
.notice main { grid-area: auto; padding: 2rem 2.25rem; max-width: 30rem; width: 100%; border: 1px solid var(--line); border-radius: 14px;
  background: var(--raised); }
.notice h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
.notice p { margin-top: .6rem; color: var(--quiet); }
.notice ul { margin-top: .4rem; padding-left: 1.2rem; overflow-wrap: anywhere; }
.notice .main { width: 100%; margin-top: 1.25rem; padding: .6rem 1rem; background: var(--accent); color: var(--ground);
  border-color: transparent; font-weight: 600; }
.notice .main:hover:enabled { filter: brightness(1.1); }
`;

export const style = [colors, text, frame, content, tools, narrow, notice].join('');
