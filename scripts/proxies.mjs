// nginx and Caddy with the files of deploy/, in front of a service of a test. Only what a reader of those files replaces is
// replaced: domain, certificate, addresses and, below a path, the lines that their comments name.

import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endServer, freePort, guardedDirectory, startServer } from './disposable.mjs';
import { findOrInstall, findProgram, pathFolders } from './programs.mjs';

/** @typedef {import('./proxies.d.mts').Site} Site */

/** @param {'nginx' | 'caddy'} name @param {boolean} install */
async function findProxy(name, install) {
  const find = () =>
    findProgram(name, [...pathFolders(), '/usr/sbin', '/usr/bin', '/opt/homebrew/bin', '/usr/local/bin']);
  const program = await findOrInstall(find, { install, packages: [name] });
  if (program) return program;
  throw new Error(
    `${name} was not found. Install it: "apt-get install ${name}" on Debian and Ubuntu, "brew install ${name}" on macOS.`,
  );
}

/** @param {{ install?: boolean }} [options] install: as root on Debian, install missing packages */
export async function findProxies({ install = false } = {}) {
  return { nginx: await findProxy('nginx', install), caddy: await findProxy('caddy', install) };
}

/**
 * The text with every place of each pattern replaced. A file that no longer has one of them is a failure.
 * @param {string} file below deploy/ @param {[string | RegExp, string][]} replacements
 */
async function configurationFrom(file, replacements) {
  let text = await readFile(fileURLToPath(new URL(`../deploy/${file}`, import.meta.url)), 'utf8');
  for (const [pattern, replacement] of replacements) {
    const replaced = text.replaceAll(pattern, replacement);
    if (replaced === text) throw new Error(`deploy/${file} does not contain ${pattern}.`);
    text = replaced;
  }
  return text;
}

const domain = /\binlay\.example\.com\b/g;
/** The line of the proxy in a file, not the one in a comment. */
const upstream = '127.0.0.1:8080';

/** @param {Site} site @returns {Promise<import('./proxies.d.mts').StartedProxy>} */
export function startNginx(site) {
  return startProxy('nginx', site, async ({ directory, http, https, certificate, key }) => {
    const server = await configurationFrom('nginx/inlay.conf', [
      [domain, site.host],
      [/\/etc\/letsencrypt\/live\/.*\/fullchain\.pem/g, certificate],
      [/\/etc\/letsencrypt\/live\/.*\/privkey\.pem/g, key],
      [upstream, `127.0.0.1:${site.port}`],
      // On loopback only.
      [/^ *listen \[::\]:.*\n/gm, ''],
      ['listen 80;', `listen 127.0.0.1:${http};`],
      ['listen 443 ', `listen 127.0.0.1:${https} `],
      ...belowPath(site.path, (path) => [
        [/^ {2}location \/ \{/gm, `  location ${path}/ {`],
        [/^( +proxy_pass .*);/gm, '$1/;'],
      ]),
    ]);
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
    const main = `pid nginx.pid;
daemon off;
worker_processes 1;
error_log stderr;
events {}
http {
  access_log off;
  ${folders.join('\n  ')}
${server}}
`;
    await writeFile(join(directory, 'nginx.conf'), main);
    return ['-p', `${directory}/`, '-c', 'nginx.conf', '-e', 'stderr'];
  });
}

/** @param {Site} site @returns {Promise<import('./proxies.d.mts').StartedProxy>} */
export function startCaddy(site) {
  return startProxy('caddy', site, async ({ directory, http, https, certificate, key }) => {
    const server = await configurationFrom('caddy/Caddyfile', [
      [domain, site.host],
      // Instead of asking an authority for one.
      [/^\S+ \{$/gm, `$&\n\ttls ${certificate} ${key}`],
      [upstream, `127.0.0.1:${site.port}`],
      ...belowPath(site.path, (path) => [[/^\treverse_proxy .*$/gm, `\thandle_path ${path}/* {\n$&\n\t}`]]),
    ]);
    const options = ['admin off', 'default_bind 127.0.0.1', `http_port ${http}`, `https_port ${https}`];
    const file = join(directory, 'Caddyfile');
    await writeFile(file, `{\n\t${options.join('\n\t')}\n}\n${server}`);
    return ['run', '--config', file, '--adapter', 'caddyfile', '--pidfile', join(directory, 'caddy.pid')];
  });
}

/**
 * @param {string | undefined} path @param {(path: string) => [string | RegExp, string][]} replacements
 * @returns {[string | RegExp, string][]}
 */
function belowPath(path, replacements) {
  return path === undefined ? [] : replacements(path);
}

/**
 * @param {'nginx' | 'caddy'} name @param {Site} site
 * @param {(place: { directory: string, http: number, https: number, certificate: string, key: string }) => Promise<string[]>}
 *   configure writes the configuration, and returns the arguments of the program
 */
async function startProxy(name, site, configure) {
  const program = (await findProxies({ install: true }))[name];
  const directory = await guardedDirectory(name, { pidFile: `${name}.pid`, stopSignal: 'TERM' });
  const [http, https] = [await freePort(), site.publicPort ?? (await freePort())];
  /** @type {import('node:child_process').ChildProcess} */
  let child;
  try {
    const [certificate, key] = [join(directory.path, 'cert.pem'), join(directory.path, 'key.pem')];
    await Promise.all([writeFile(certificate, site.certificate), writeFile(key, site.key)]);
    const args = await configure({ directory: directory.path, http, https, certificate, key });
    child = await startServer(program, args, { directory: directory.path, ask: () => ask(http) });
  } catch (error) {
    await directory.remove();
    throw error;
  }
  return {
    http,
    https,
    async stop() {
      await endServer(child, 'SIGTERM');
      await directory.remove();
    },
  };
}

/** Whatever the answer is. @param {number} port @returns {Promise<void>} */
const ask = (port) =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent: false }, (answer) => {
      answer.resume();
      resolve();
    })
      .on('error', reject)
      .end();
  });

/** Each proxy, with the service at the root and below a path. */
export const proxyCases = [
  { name: 'nginx', start: startNginx, path: '' },
  { name: 'nginx', start: startNginx, path: '/inlay' },
  { name: 'Caddy', start: startCaddy, path: '' },
  { name: 'Caddy', start: startCaddy, path: '/inlay' },
];
