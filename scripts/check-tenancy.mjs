// Checks that a store cannot forget the tenant: every function exported by a `*.store.ts` takes an organization or
// workspace id, as a parameter or as a member of one. Stores of workers (`*.worker.store.ts`) serve all tenants;
// check-arrows.mjs checks which files may import them. Our compiler has no API, so signatures are read as text; Biome
// gives them all one form.
//
//   node scripts/check-tenancy.mjs [root]

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMain } from './is-main.mjs';

/** @typedef {{ file: string, name: string }} StoreFunction */
/** @typedef {StoreFunction & { words: string }} TenancyFinding */

const tenantIds = ['organizationId', 'workspaceId', 'workspaceIds'];
const tenantId = new RegExp(`\\b(${tenantIds.join('|')})\\b`);
/** A member of an object type, which may be optional only where it narrows a list. */
const tenantMember = new RegExp(`\\b(${tenantIds.join('|')})\\??:`);

/** Functions whose rows belong to no tenant, or that find the tenant. Each has its reason. */
export const exceptions = [
  {
    file: 'server/src/tenancy/organizations/organizations.store.ts',
    names: ['listOrganizations', 'insertOrganization'],
    reason: 'organizations are the tenants',
  },
  {
    file: 'server/src/tenancy/tokens/operator-tokens.store.ts',
    names: ['findUsable'],
    reason: 'the tenant of a request is found by the hash of its token',
  },
  {
    file: 'server/src/tenancy/tokens/signing-keys.store.ts',
    names: ['listKeys', 'insertKey', 'retireOthers', 'removeRetiredKey'],
    reason: 'signing keys belong to the deployment',
  },
  {
    file: 'server/src/log/audit/audit-keys.store.ts',
    names: ['listKeys', 'insertKey'],
    reason: 'keys that sign checkpoints belong to the deployment',
  },
  {
    file: 'server/src/edge/deployment/replicas.store.ts',
    names: ['listReplicas'],
    reason: 'replicas belong to the deployment',
  },
  {
    file: 'server/src/catalog/definitions/registered-changes.store.ts',
    names: ['insertTold'],
    reason: 'registered definitions belong to the deployment',
  },
  {
    file: 'server/src/log/webhooks/endpoints.store.ts',
    names: ['findEndpointById'],
    reason: 'anybody who knows the id of an endpoint may ask for its public keys',
  },
  {
    file: 'server/src/edge/console/sessions.store.ts',
    names: ['findLiveSession'],
    reason: 'the tenant of a request is found by the hash of its cookie',
  },
  {
    file: 'server/src/edge/console/links.store.ts',
    names: ['findUsableLink'],
    reason: 'a browser without a session is known by the hash of the code that it was given',
  },
  {
    file: 'server/src/edge/console/oidc.store.ts',
    names: ['insertSignIn', 'takeSignIn'],
    reason: 'somebody who is at the provider belongs to no organization yet',
  },
  {
    file: 'server/src/credentials/sign-in/flows.store.ts',
    names: ['findFlowByStart', 'findFlowByState', 'findFlowByCookie'],
    reason: 'a browser without a token is known by the hash of what the service has given to it',
  },
  {
    file: 'platform/src/actors/actors.store.ts',
    names: ['listActors', 'findActorById'],
    reason: 'the API of the platform names an actor by its id alone, and lists may name workspaces',
  },
  {
    file: 'platform/src/connections/connections.store.ts',
    names: ['listConnections', 'findConnectionById'],
    reason: 'the API of the platform names a connection by its id alone, and lists may name workspaces',
  },
  {
    file: 'platform/src/jobs/jobs.store.ts',
    names: ['findJobById'],
    reason: 'the API of the platform names a job by its id alone',
  },
  {
    file: 'platform/src/definitions/definitions.store.ts',
    names: [
      'listRegistered',
      'findRegistered',
      'insertRegistered',
      'deleteRegistered',
      'insertChange',
      'listChanges',
      'deleteChange',
    ],
    reason: 'registered definitions belong to the deployment',
  },
  {
    file: 'platform/src/definitions/manifests.store.ts',
    names: ['putManifest', 'findManifest', 'deleteUnusedManifest', 'listManifests', 'replaceManifestText'],
    reason: 'texts of manifests are found by their hash, which only a definition of the workspace tells',
  },
  {
    file: 'platform/src/workers/tasks.store.ts',
    names: ['listOpenTasks', 'claimTask', 'renewTasks', 'putAnswer'],
    reason: 'workers belong to the deployment',
  },
  {
    file: 'platform/src/workers/workers.store.ts',
    names: [
      'insertWorker',
      'findWorker',
      'findJoined',
      'listWorkers',
      'updateWorker',
      'recordSeen',
      'revokeWorkers',
      'deleteGoneWorkers',
      'listLive',
      'listRunning',
      'listHeldBy',
      'countDue',
      'beginAttempt',
      'takeCheckpoint',
      'takeLogLines',
    ],
    reason: 'workers belong to the deployment',
  },
  {
    file: 'platform/src/workspaces/workspaces.store.ts',
    names: ['listOrganizationIds'],
    reason: 'organizations are the tenants',
  },
];

export const forgetsTenant = 'takes no organizationId or workspaceId';
export const needlessException = 'is an exception of check-tenancy.mjs and needs none';

/** @param {string} root the repository @returns {TenancyFinding[]} */
export function checkTenancy(root, allowed = exceptions) {
  const findings = [];
  const used = new Set();
  for (const half of ['server/src', 'platform/src']) {
    const sources = readSources(root, half);
    const objectTypes = readObjectTypes(sources);
    for (const [file, source] of sources) {
      if (!/\.store\.ts$/.test(file) || file.endsWith('.worker.store.ts')) continue;
      for (const { name, parameters } of exportedFunctions(source)) {
        if (parameters.some((parameter) => takesTenant(parameter, objectTypes))) continue;
        const exception = allowed.find((one) => one.file === file && one.names.includes(name));
        if (exception) used.add(`${file} ${name}`);
        else findings.push({ file, name, words: forgetsTenant });
      }
    }
  }
  for (const { file, names } of allowed) {
    for (const name of names) {
      if (!used.has(`${file} ${name}`)) findings.push({ file, name, words: needlessException });
    }
  }
  return findings;
}

/** @param {string} root @param {string} folder @returns {Map<string, string>} text by path relative to the root */
function readSources(root, folder) {
  const path = join(root, folder);
  if (!existsSync(path)) return new Map();
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return new Map(
    files.map((file) => [relative(root, file).split(sep).join('/'), withoutComments(readFileSync(file, 'utf8'))]),
  );
}

/** @param {string} source */
const withoutComments = (source) => source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

/** The names of the types with a tenant's id among their members. @param {Map<string, string>} sources */
function readObjectTypes(sources) {
  const names = new Set();
  for (const source of sources.values()) {
    for (const { 1: name = '', index } of source.matchAll(/^(?:export )?interface (\w+)/gm)) {
      const begin = source.indexOf('{', index);
      if (tenantMember.test(source.slice(begin, endOf(source, begin)))) names.add(name);
    }
    for (const [, name = '', body = ''] of source.matchAll(/^(?:export )?type (\w+)[^=]*=([\s\S]*?);$/gm)) {
      if (tenantMember.test(body)) names.add(name);
    }
  }
  return names;
}

/** @param {string} source @returns {{ name: string, parameters: string[] }[]} */
function exportedFunctions(source) {
  const declared = [...source.matchAll(/^export (?:async )?function (\w+)/gm)];
  const assigned = [...source.matchAll(/^export const (\w+) = (?:async )?(?:prepare\()?(?=\(|<)/gm)];
  return [...declared, ...assigned].map(({ 0: head, 1: name = '', index }) => {
    const begin = source.indexOf('(', afterTypeParameters(source, index + head.length));
    return { name, parameters: splitAtCommas(source.slice(begin + 1, endOf(source, begin) - 1)) };
  });
}

/** @param {string} source @param {number} at */
const afterTypeParameters = (source, at) => (source[at] === '<' ? endOf(source, at) : at);

const brackets = { '(': ')', '{': '}', '[': ']', '<': '>' };

/** Just after the bracket that closes the one at `begin`. @param {string} source @param {number} begin */
function endOf(source, begin) {
  let depth = 0;
  for (let at = begin; at < source.length; at++) {
    const character = source[at] ?? '';
    if (isArrow(source, at)) continue;
    if (character in brackets) depth++;
    else if (Object.values(brackets).includes(character)) depth--;
    if (depth === 0) return at + 1;
  }
  return source.length;
}

/** @param {string} source @param {number} at */
const isArrow = (source, at) => source[at] === '>' && source[at - 1] === '=';

/** @param {string} list @returns {string[]} */
function splitAtCommas(list) {
  const parts = [''];
  let depth = 0;
  for (let at = 0; at < list.length; at++) {
    const character = list[at] ?? '';
    if (character in brackets) depth++;
    else if (Object.values(brackets).includes(character) && !isArrow(list, at)) depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** @param {string} parameter @param {Set<string>} objectTypes */
function takesTenant(parameter, objectTypes) {
  if (tenantId.test(parameter)) return true;
  const type = /:\s*(\w+)$/.exec(parameter)?.[1];
  return type !== undefined && objectTypes.has(type);
}

if (isMain(import.meta.url)) {
  const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
  const findings = checkTenancy(root);
  for (const { file, name, words } of findings) console.error(`${file}: ${name} ${words}`);
  if (findings.length > 0) process.exitCode = 1;
}
