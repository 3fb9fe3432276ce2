/**
 * Proofs that the widget page was loaded in a frame. The page gets a proof only if the browser says so in its request.
 * A sign-in started with a proof skips the confirmation page, because the customer sees the product around the widget.
 * The widget opened as a page of its own gets no proof.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Runtime } from '../../kernel/runtime.ts';
import type { SigningKeys } from './signing-keys.ts';

interface WidgetPage {
  workspaceId: string;
  allowedOrigin: string;
}

export interface FrameProofs {
  make(page: WidgetPage): string;
  isValid(proof: string, page: WidgetPage): boolean;
}

/** Customers leave pages open. After this time they are asked before they sign in, and nothing else happens. */
const lifeSeconds = 60 * 60;

export function createFrameProofs(
  keys: Pick<SigningKeys, 'current' | 'find'>,
  { now }: Pick<Runtime, 'now'>,
): FrameProofs {
  // A widget address, which the same key signs, begins otherwise.
  const textOf = ({ workspaceId, allowedOrigin }: WidgetPage, until: number) =>
    `frame proof\n${workspaceId}\n${allowedOrigin}\n${until}`;
  return {
    make(page) {
      const until = Math.floor(now() / 1000) + lifeSeconds;
      const key = keys.current();
      return `${until}.${key.kid}.${key.mac(textOf(page, until))}`;
    },
    isValid(proof, page) {
      const [, until = '', kid = '', mac = ''] = /^(\d{1,12})\.([\w-]{1,64})\.([\w-]{43})$/.exec(proof) ?? [];
      const key = keys.find(kid);
      if (!key || Number(until) * 1000 <= now()) return false;
      return timingSafeEqual(Buffer.from(key.mac(textOf(page, Number(until)))), Buffer.from(mac));
    },
  };
}
