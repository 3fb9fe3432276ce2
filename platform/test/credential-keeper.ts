/* Keeps credentials for the platform in a test, as the service would: tokens end by the clock of the test. */
import {
  type AccessOptions,
  CredentialNeedsAttention,
  type CredentialRef,
  type Credentials,
  CredentialUnavailable,
  type HandedBack,
  KeeperUnreachable,
} from '../src/credentials.ts';

export interface Keeper extends Credentials {
  readonly asked: ({ ref: CredentialRef } & AccessOptions)[];
  readonly handedBack: HandedBack[];
  /** Every token that was ever given out. */
  readonly tokens: string[];
  generation: number;
  /** What befalls those who ask. */
  trouble: 'customer' | 'operator' | 'unavailable' | 'unreachable' | undefined;
  /** Whether the API takes the token at this moment. */
  isValid(token: string): boolean;
  /** The provider ends the token although its time has not come. */
  endEarly(): void;
}

interface KeeperOptions {
  clock: { time: number };
  lifeMs?: number;
  /** How long a token has to be valid if nobody says it. */
  marginMs?: number;
  values?: Record<string, string>;
  workspaceId?: string;
}

export function credentialKeeper({
  clock,
  lifeMs = 3_600_000,
  marginMs = 0,
  values = {},
  workspaceId,
}: KeeperOptions): Keeper {
  let expiresAt = clock.time + lifeMs;
  const tokenOf = (generation: number) => `secret-token-${generation}-of-the-provider`;
  const keeper: Keeper = {
    asked: [],
    handedBack: [],
    tokens: [],
    generation: 1,
    trouble: undefined,
    isValid: (token) => token === tokenOf(keeper.generation) && clock.time < expiresAt,
    endEarly() {
      expiresAt = clock.time;
    },
    async accessTo(ref, options) {
      keeper.asked.push({ ref, ...options });
      if (workspaceId !== undefined && ref.workspaceId !== workspaceId) throw new CredentialNeedsAttention('customer');
      if (keeper.trouble === 'unavailable') throw new CredentialUnavailable('not now');
      if (keeper.trouble === 'unreachable') throw new KeeperUnreachable('Nobody is there.');
      if (keeper.trouble) throw new CredentialNeedsAttention(keeper.trouble);
      const { notGeneration, forMs = marginMs, handsOver } = options;
      if (notGeneration === keeper.generation || expiresAt - clock.time <= forMs) {
        keeper.generation++;
        expiresAt = clock.time + lifeMs;
      }
      const { generation } = keeper;
      const access_token = tokenOf(generation);
      keeper.tokens.push(access_token);
      const handed = handsOver
        ? { refresh_token: `refresh-${generation}`, client_id: 'the-id', client_secret: 'the-client-secret' }
        : {};
      return { values: { access_token, ...values, ...handed }, generation, expiresAt };
    },
    async handBack(_ref, tokens) {
      if (keeper.trouble === 'unreachable') throw new KeeperUnreachable('Nobody is there.');
      keeper.handedBack.push(tokens);
      keeper.generation++;
      return keeper.generation;
    },
    outage: () => (keeper.trouble === 'unreachable' ? 'Nobody is there.' : undefined),
    test: async () => keeper.outage(),
  };
  return keeper;
}
