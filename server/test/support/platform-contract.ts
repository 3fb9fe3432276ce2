/**
 * What every platform must do, as the service relies on it. The suite runs against the bundled platform within the process
 * and over a socket; a new adapter passes it before it is used.
 */
import { expect, it } from 'vitest';
import type { PlatformPort } from '../../src/kernel/platform/platform-port.ts';

export interface PlatformUnderTest {
  platform: PlatformPort;
  organizationId: string;
  otherOrganizationId: string;
  /** Makes an active connection in a workspace, and gives its id. */
  makeConnection(workspaceId: string): Promise<string>;
}

const regionId = '645a183f-b12b-4c6e-8ad3-99e165603450';

export function platformContract(given: () => PlatformUnderTest): void {
  const create = (name: string, organizationId = given().organizationId) =>
    given().platform.createWorkspace({ organizationId, name, regionId });
  const all = async (organizationId = given().organizationId) => {
    const found: string[] = [];
    for await (const page of given().platform.listWorkspaces(organizationId)) found.push(...page.map(({ id }) => id));
    return found;
  };

  it('creates a workspace that is found by its name and listed once', async () => {
    const { id } = await create('contract one');
    expect(await given().platform.findWorkspacesByName(given().organizationId, 'contract one')).toMatchObject([{ id }]);
    expect((await all()).filter((listed) => listed === id)).toHaveLength(1);
  });

  it('allows equal names and finds all of them, oldest first', async () => {
    const first = await create('twins');
    const second = await create('twins');
    const found = await given().platform.findWorkspacesByName(given().organizationId, 'twins');
    expect(found.map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  it('finds by NFC, with case, and without compatibility forms', async () => {
    const { id } = await create('Café ﬁ');
    const find = (name: string) => given().platform.findWorkspacesByName(given().organizationId, name);
    expect(await find('Cafe\u0301 ﬁ')).toMatchObject([{ id }]);
    expect(await find('café ﬁ')).toEqual([]);
    expect(await find('Café fi')).toEqual([]);
  });

  it('keeps organizations apart', async () => {
    const { id } = await create('elsewhere', given().otherOrganizationId);
    expect(await given().platform.findWorkspacesByName(given().organizationId, 'elsewhere')).toEqual([]);
    expect(await all()).not.toContain(id);
    expect(await all(given().otherOrganizationId)).toContain(id);
  });

  it('lists more than one page, each workspace once', async () => {
    const made = [];
    for (let i = 0; i < 120; i++) made.push((await create(`page ${i}`)).id);
    const listed = await all();
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toEqual(expect.arrayContaining(made));
  });

  it('renames by id', async () => {
    const { id } = await create('old name');
    expect(await given().platform.renameWorkspace(id, 'new name')).toMatchObject({ settled: true });
    expect(await given().platform.findWorkspacesByName(given().organizationId, 'new name')).toMatchObject([{ id }]);
    expect(await given().platform.findWorkspacesByName(given().organizationId, 'old name')).toEqual([]);
  });

  it('refuses to rename what is not there', async () => {
    const missing = '00000000-0000-4000-8000-00000000dead';
    await expect(given().platform.renameWorkspace(missing, 'x')).rejects.toMatchObject({ failure: 'not_found' });
  });

  it('deletes by id, and again without complaint; what is deleted is not found', async () => {
    const { id } = await create('short lived');
    await given().platform.deleteWorkspace(id);
    await given().platform.deleteWorkspace(id);
    expect(await given().platform.findWorkspacesByName(given().organizationId, 'short lived')).toEqual([]);
    expect(await all()).not.toContain(id);
  });

  it('disables and enables connections, and minds none that are gone', async () => {
    const { id } = await create('connected');
    const connection = await given().makeConnection(id);
    const { platform } = given();
    expect(await platform.listConnections(id)).toMatchObject([{ id: connection, status: 'active' }]);
    await platform.setConnectionStatus(connection, 'inactive');
    expect(await platform.listConnections(id)).toMatchObject([{ id: connection, status: 'inactive' }]);
    await platform.setConnectionStatus(connection, 'active');
    await platform.deleteWorkspace(id);
    expect(await platform.setConnectionStatus(connection, 'inactive')).toEqual({ settled: true });
  });

  it('tells which organizations the credentials can see', async () => {
    await create('visible');
    expect(await given().platform.listOrganizations()).toContain(given().organizationId);
  });
}
