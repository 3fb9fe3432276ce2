/** A hosted platform on a real socket, which knows as much or as little as a test wants it to. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';

export interface HostedWorkspace {
  workspaceId: string;
  name: string;
  organizationId: string;
  tombstone?: boolean;
}

export interface HostedServer {
  /** The base of its public API. */
  url: string;
  organizations: string[];
  workspaces: HostedWorkspace[];
  /** Whether its public listing says whose a workspace is. */
  namesOrganizations: boolean;
  honorsNameFilter: boolean;
  /** What its internal listing answers; `as it should` or something else altogether. */
  internalListing: 'as it should' | { status: number; body: string };
  /** Answers the request itself when it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** What was asked, as method and path. */
  requests: string[];
  /** The name parts requested from the internal listing. */
  nameParts: string[];
  /** The lifetime in the token's own claims, whatever `expires_in` says. */
  token: { seconds: number; announcedSeconds: number | undefined };
  /**
   * The member of a token request that must say `client_credentials`: older platforms spell it otherwise than newer
   * ones.
   */
  grantMember: 'grant-type' | 'grant_type';
  issuedAt: () => number;
  stop(): Promise<void>;
}

const key = new TextEncoder().encode('a key that nobody checks, but long enough');

export async function startHostedServer(basePath = '/api/public/v1'): Promise<HostedServer> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => void answer(request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hosted: HostedServer = {
    url: `http://127.0.0.1:${port}${basePath}`,
    organizations: [],
    workspaces: [],
    namesOrganizations: false,
    honorsNameFilter: false,
    internalListing: { status: 404, body: '' },
    intercept: () => false,
    requests: [],
    nameParts: [],
    token: { seconds: 900, announcedSeconds: 900 },
    grantMember: 'grant_type',
    issuedAt: Date.now,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', hosted.url);
    hosted.requests.push(`${request.method} ${url.pathname}`);
    if (hosted.intercept(request, response)) return;
    const send = (value: unknown) => response.end(JSON.stringify(value));
    const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : url.pathname;
    switch (path) {
      case '/applications/token':
        if (JSON.parse(body)[hosted.grantMember] !== 'client_credentials') response.writeHead(422).end('{}');
        else
          send({ access_token: await issueToken(), expires_in: hosted.token.announcedSeconds, token_type: 'Bearer' });
        break;
      case '/organizations':
        send({ data: hosted.organizations.map((organizationId) => ({ organizationId, organizationName: 'o' })) });
        break;
      case '/workspaces':
        send({ data: listPublicly(url.searchParams) });
        break;
      case '/api/v1/workspaces/list_by_organization_id':
        if (hosted.internalListing !== 'as it should') {
          response.writeHead(hosted.internalListing.status).end(hosted.internalListing.body);
        } else send({ workspaces: listInternally(JSON.parse(body)) });
        break;
      default:
        response.writeHead(404).end('{}');
    }
  }

  function issueToken(): Promise<string> {
    const issuedAt = Math.floor(hosted.issuedAt() / 1000);
    return new SignJWT({ number: hosted.requests.length })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + hosted.token.seconds)
      .sign(key);
  }

  function listPublicly(query: URLSearchParams): object[] {
    const offset = Number(query.get('offset'));
    const name = query.get('name');
    return hosted.workspaces
      .filter((workspace) => !workspace.tombstone)
      .filter((workspace) => !hosted.honorsNameFilter || name === null || workspace.name === name)
      .slice(offset, offset + Number(query.get('limit')))
      .map(({ organizationId, ...item }) => (hosted.namesOrganizations ? { ...item, organizationId } : item));
  }

  function listInternally(query: {
    organizationId: string;
    nameContains?: string;
    pagination: { pageSize: number; rowOffset: number };
  }): object[] {
    const { organizationId, nameContains = '', pagination } = query;
    if (nameContains !== '') hosted.nameParts.push(nameContains);
    return hosted.workspaces
      .filter((workspace) => workspace.organizationId === organizationId)
      .filter((workspace) => workspace.name.toLowerCase().includes(nameContains.toLowerCase()))
      .slice(pagination.rowOffset, pagination.rowOffset + pagination.pageSize);
  }

  return hosted;
}
