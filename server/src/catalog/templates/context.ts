/** What the rules of this folder need from outside. */
import type { TokenOwner } from '../../kernel/platform/token-owner.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../../log/events/journal.ts';
import type { DefinitionsContext } from '../definitions/definitions.ts';
import type { SignInClients } from '../forms/sign-in.ts';

export interface TemplatesContext extends DefinitionsContext {
  runtime: Runtime;
  sealer: Sealer;
  /** Every change is written into it, in the transaction of the change. */
  journal: Journal;
  tokenOwner: Pick<TokenOwner, 'current'>;
  signInClients: SignInClients;
}
