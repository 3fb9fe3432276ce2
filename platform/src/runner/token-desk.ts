/**
 * Gives a running connector fresh access tokens. Only our own engine can ask: it writes a request to its standard
 * output and reads the response from its standard input, which stays open for this. No network is involved, and the
 * token takes no other path.
 */
import { type Message, type OfferedCredential, type TokenAnswer, tokenRequestType } from '@inlay/protocol/protocol';
import type { Runtime } from '../runtime.ts';
import type { ConnectorProcess } from './connector-process.ts';
import type { Conversation } from './conversation.ts';
import { type ConfiguredConnector, type ConnectorProgram, RunFailure, type SignIn } from './runner.ts';

export class TokenDesk {
  readonly #signIn: SignIn | undefined;
  readonly #words: Conversation;
  readonly #runtime: Runtime;
  #stdin: ConnectorProcess['stdin'] | undefined;

  constructor(connector: ConnectorProgram | ConfiguredConnector, words: Conversation, runtime: Runtime) {
    this.#signIn = isOpenTo(connector) ? connector.signIn : undefined;
    this.#words = words;
    this.#runtime = runtime;
  }

  /** Spread into the connector's input. */
  get offer(): { credential?: OfferedCredential } {
    if (!this.#signIn) return {};
    const { generation, fields, values } = this.#signIn;
    const expires_in_ms = this.#remaining(this.#signIn);
    return { credential: { generation, fields, expires_in_ms, access_token: values.access_token } };
  }

  /** The input of a connector that can ask stays open; any other ends here. */
  serve({ stdin }: ConnectorProcess): void {
    if (this.#signIn) this.#stdin = stdin;
    else stdin.end();
  }

  /** Answers a request for a token; anything else is not for this desk. */
  async hear(message: Message | undefined): Promise<void> {
    if (message?.type !== tokenRequestType || !this.#signIn) return;
    const refused = message.not_generation;
    const answer = await this.#answer(this.#signIn, typeof refused === 'number' ? { notGeneration: refused } : {});
    if (this.#stdin && !this.#stdin.destroyed) this.#stdin.write(`${JSON.stringify(answer)}\n`);
  }

  async #answer(signIn: SignIn, options: { notGeneration?: number }): Promise<TokenAnswer> {
    try {
      const { values, secrets, ...token } = await signIn.fresh(options);
      this.#words.hide(secrets);
      return { values, generation: token.generation, expires_in_ms: this.#remaining(token) };
    } catch (error) {
      if (!(error instanceof RunFailure)) {
        const what = error instanceof Error ? error.message : String(error);
        this.#words.log('ERROR', `Failed to get a new access token: ${what}`);
        return { failure: { message: 'Failed to get a new access token.', failure_type: 'transient_error' } };
      }
      const { message, type, fields } = error.failure;
      const failure_type = type === 'config_error' ? type : 'transient_error';
      return { failure: { message, failure_type, ...(fields && { inlay_fields: fields }) } };
    }
  }

  /** As a span, since the clock of the connector may be another one. */
  #remaining({ expiresAt }: Pick<SignIn, 'expiresAt'>): number | null {
    return expiresAt === null ? null : expiresAt - this.#runtime.now();
  }
}

function isOpenTo(connector: ConnectorProgram | ConfiguredConnector): connector is ConfiguredConnector {
  return connector.asksForTokens === true && 'signIn' in connector && connector.signIn?.handsOver === false;
}

/** Whether the connector has an access token that nobody replaces while it runs, and when that ends. */
export function lastTokenEnd({ asksForTokens, signIn }: ConfiguredConnector): number | undefined {
  if (!signIn || signIn.handsOver || asksForTokens) return undefined;
  return signIn.expiresAt ?? undefined;
}
