export interface Site {
  host: string;
  /** Without a slash at the end. Undefined: the service has the host to itself. */
  path?: string | undefined;
  /** Of the service. */
  port: number;
  /** Of the proxy, where browsers were told of it before it starts. */
  publicPort?: number;
  certificate: string;
  key: string;
}

/** Listens on 127.0.0.1. */
export interface StartedProxy {
  readonly http: number;
  readonly https: number;
  stop(): Promise<void>;
}

export function findProxies(options?: { install?: boolean }): Promise<{ nginx: string; caddy: string }>;
export function startNginx(site: Site): Promise<StartedProxy>;
export function startCaddy(site: Site): Promise<StartedProxy>;
export const proxyCases: { name: string; start(site: Site): Promise<StartedProxy>; path: string }[];
