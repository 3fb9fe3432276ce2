/** The commands that look after a deployment: its database, organizations, operator tokens and keys. */
import type { OpenPlatform } from '@inlay/platform/open-platform';
import { isAbandoned } from '@inlay/platform/process-names';
import { byCommandLine } from '../../kernel/cause.ts';
import { readConfig } from '../../kernel/config/config.ts';
import { openDataDir } from '../../kernel/config/data-dir.ts';
import type { Store } from '../../kernel/db/open.ts';
import { resealEverything } from '../../kernel/db/resealing.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createJournal } from '../../log/events/journal.ts';
import {
  createOrganization,
  findOrganization,
  listOrganizationIds,
  listOrganizations,
} from '../../tenancy/organizations/organizations.ts';
import {
  createOperatorTokens,
  type OperatorTokens,
  rotationAdvisedAfterDays,
} from '../../tenancy/tokens/operator-tokens.ts';
import { listSigningKeys, removeSigningKey, rotateSigningKeys } from '../../tenancy/tokens/signing-keys.ts';
import { rotateEncryptionKey as rotateBesideServices } from '../deployment/key-rotation.ts';
import { withInlay } from './inlay.ts';
import { openOwnSealer, upgradeFor, withNewStore, withStore, withStoreAsItIs } from './opened-store.ts';
import { day, plain, print, printJson, table } from './output.ts';

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

export const addOrganization = (options: { name: string; id?: string; platformOrganizationId?: string }) =>
  withNewStore(async (store) => {
    await openOwnSealer(store);
    await upgradeFor(readConfig(process.env), store);
    if (options.id && (await findOrganization(store, options.id))) {
      throw new OperatorError(`Organization ${options.id} already exists.`);
    }
    const { id } = await createOrganization(store, systemRuntime, options);
    const { token } = await operatorTokens(store).create(id, { name: 'first' }, byCommandLine);
    print(
      `Organization   ${id}`,
      `Operator token ${token}`,
      '',
      "Save the operator token now. You won't see it again.",
    );
  });

export const showOrganizations = ({ json }: { json?: true }) =>
  withStoreAsItIs(async (store) => {
    const rows = await listOrganizations(store);
    if (json) {
      const data = rows.map(({ id, name, platform_organization_id, created_at }) => ({
        ...{ id, name, platform_organization_id },
        created_at: isoTime(created_at),
      }));
      return printJson({ data });
    }
    table(
      ['ID', 'NAME', 'PLATFORM ORGANIZATION', 'CREATED'],
      rows.map((row) => [row.id, row.name, row.platform_organization_id, day(row.created_at)]),
    );
  });

interface Chosen {
  organization?: string;
  json?: true;
}

export const createOperatorToken = (
  options: Chosen & { name: string; permission: 'full' | 'operator' | 'read'; expiresInDays?: number },
) =>
  withInlay(
    options,
    async ({ ask }) => {
      const { name, permission, expiresInDays } = options;
      const expiresAt = inDays(expiresInDays);
      const body = { name, permission, expires_at: timeOf(expiresAt) };
      const made = await ask('POST /operator-tokens', { body }, ({ store, organizationId }) =>
        operatorTokens(store).create(organizationId, { name, permission, expiresAt }, byCommandLine),
      );
      if (options.json) return printJson(made);
      printToken(made);
    },
    withStore,
  );

function printToken({ id, token }: { id: string; token: string }): void {
  print(`ID             ${id}`, `Operator token ${token}`, '', "Save the token now. You won't see it again.");
}

export const showOperatorTokens = (options: Chosen) =>
  withInlay(options, async ({ ask }) => {
    const { data: rows } = await ask('GET /operator-tokens', {}, async ({ store, organizationId }) => ({
      data: await operatorTokens(store).list(organizationId),
    }));
    if (options.json) return printJson({ data: rows });
    table(
      ['ID', 'NAME', 'PERMISSION', 'CREATED', 'LAST USED', 'STATE'],
      rows.map((row) => [row.id, row.name, row.permission, day(row.created_at), day(row.last_used_at), stateOf(row)]),
    );
    const old = rows.filter((row) => stateOf(row) === 'active' && ageInDays(row.created_at) > rotationAdvisedAfterDays);
    if (old.length > 0) {
      print(
        '',
        `Tokens older than ${rotationAdvisedAfterDays} days, which you should rotate: ${old.map((row) => row.name).join(', ')}`,
      );
      print('  inlay operator-token rotate <id> --overlap-hours 24');
    }
  });

export const revokeOperatorToken = (id: string, options: Chosen) =>
  withInlay(
    options,
    async ({ ask }) => {
      const { name } = await ask('DELETE /operator-tokens/{operator_token_id}', { ids: [id] }, (here) =>
        operatorTokens(here.store).revoke(here.organizationId, id, byCommandLine),
      );
      print(`Revoked ${plain(name)} (${id}).`);
    },
    withStore,
  );

export const rotateOperatorToken = (id: string, options: Chosen & { overlapHours: number; expiresInDays?: number }) =>
  withInlay(
    options,
    async ({ ask }) => {
      const { overlapHours, expiresInDays } = options;
      const overlapSeconds = Math.round(overlapHours * 3600);
      const expiresAt = inDays(expiresInDays);
      const body = { overlap_seconds: overlapSeconds, expires_at: timeOf(expiresAt) };
      const route = 'POST /operator-tokens/{operator_token_id}/rotate';
      const fresh = await ask(route, { ids: [id], body }, ({ store, organizationId }) =>
        operatorTokens(store).rotate(organizationId, id, { overlapSeconds, expiresAt }, byCommandLine),
      );
      if (options.json) return printJson(fresh);
      printToken(fresh);
      if (fresh.expires_at !== null) print(`The new token expires at ${fresh.expires_at}.`);
      print(overlapHours > 0 ? `The old token works for another ${overlapHours} h.` : 'The old token is revoked.');
    },
    withStore,
  );

export const showKeys = ({ json }: { json?: true }) =>
  withStoreAsItIs(async (store) => {
    const rows = await listSigningKeys(store);
    if (json) {
      const data = rows.map(({ kid, created_at, retired_at }) => ({
        ...{ kid, created_at: isoTime(created_at) },
        retired_at: retired_at === null ? null : isoTime(retired_at),
      }));
      return printJson({ data });
    }
    table(
      ['KEY', 'CREATED', 'STATE'],
      rows.map((row) => [
        row.kid,
        day(row.created_at),
        row.retired_at === null ? 'signs' : `retired ${day(row.retired_at)}`,
      ]),
    );
  });

export const rotateKeys = () =>
  withStore(async (store) => {
    const sealer = await openOwnSealer(store);
    const kid = await rotateSigningKeys({ store, sealer, journal, listOrganizationIds });
    print(`Created key ${kid}. Services publish it now and sign with it in about ten seconds.`);
    print(
      'Existing tokens stay valid. To invalidate them, find the old key with inlay keys list and run: inlay keys remove <key>',
    );
  });

export const removeKey = (kid: string) =>
  withStore(async (store) => {
    if (!(await removeSigningKey({ store, journal, listOrganizationIds }, kid))) {
      throw new OperatorError(`No retired key ${kid}. See: inlay keys list`);
    }
    print(`Removed ${kid}. Running services reject its tokens within a few seconds.`);
  });

export const rotateEncryptionKey = () =>
  withStore(async (store) => {
    const { hasPlatform, withPlatform } = await import('./connectors.ts');
    const { config, secrets } = readConfig(process.env);
    if (!hasPlatform(config, secrets)) return await rotateIn(store);
    await withPlatform((platform) => rotateIn(store, platform));
  });

async function rotateIn(store: Store, platform?: OpenPlatform): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  const ctx = {
    ...{ store, runtime: systemRuntime, isAbandoned, tell: print },
    ...(platform && { listKeyHolders: platform.listKeyHolders }),
  };
  await rotateBesideServices(ctx, {
    secrets,
    dataDir: openDataDir(config.dataDir),
    async reseal(sealer) {
      // Before the store: signing keys come last of all, see db/resealing.ts.
      await platform?.reseal();
      const count = await resealEverything(store.db, sealer);
      await store.transaction(async (tx) => {
        for (const id of await listOrganizationIds(tx)) {
          await journal.record(tx, id, { type: 'key.encryption_rotated', data: { secrets: count } });
        }
      });
      print(`Re-encrypted ${count} secrets with the new key.`);
    },
  });
  if (secrets.encryptionKeys) print('You can now remove the old key from INLAY_ENCRYPTION_KEY.');
  else print('The data directory contains the new key, and running services use it. Make a new backup.');
}

const operatorTokens = (store: Store): OperatorTokens => createOperatorTokens(store, systemRuntime, journal);

function inDays(days: number | undefined): number | undefined {
  return days === undefined ? undefined : systemRuntime.now() + days * 86_400_000;
}

const timeOf = (at: number | undefined) => (at === undefined ? undefined : isoTime(at));

function stateOf(token: { revoked_at: string | null; expires_at: string | null }): string {
  const now = systemRuntime.now();
  if (token.revoked_at !== null)
    return Date.parse(token.revoked_at) <= now ? 'revoked' : `active until ${token.revoked_at}`;
  return token.expires_at !== null && Date.parse(token.expires_at) <= now ? 'expired' : 'active';
}

function ageInDays(at: string): number {
  return (systemRuntime.now() - Date.parse(at)) / 86_400_000;
}
