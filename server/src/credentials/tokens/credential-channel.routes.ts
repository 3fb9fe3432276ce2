/**
 * The only path by which a platform in another process gets tokens. Not part of the public API: only a caller with the
 * credentials of the platform's application gets an answer, and everything else is answered with the same 401.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { bearerToken } from '../../kernel/http/bearer-token.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { OAuthContext } from '../context.ts';
import {
  accessForPlatform,
  CredentialBusy,
  CredentialNeedsAttention,
  CredentialUnavailable,
  handBackFromPlatform,
} from './access.ts';
import { channelPath, createAnswerer, type OpenQuestion, type Question, type Reply } from './channel-envelope.ts';

declare module 'fastify' {
  interface FastifyRequest {
    platformQuestion: OpenQuestion | null;
  }
}

interface ChannelContext {
  oauth: OAuthContext;
  application: { clientId: string; clientSecret: string };
}

/** Tokens of some providers have several kilobytes, and there are two of them. */
const bodyLimit = 262_144;
/** The connection of a question that takes longer than a minute is cut; the platform asks again. */
const patienceMs = 15_000;

export function credentialChannelRoutes(app: FastifyInstance, { oauth, application }: ChannelContext): void {
  const accept = createAnswerer(application, oauth.runtime);
  app.decorateRequest('platformQuestion', null);

  app.route({
    method: 'POST',
    url: channelPath,
    bodyLimit,
    config: { access: 'channel' },
    schema: { hide: true },
    onRequest: async (request) => {
      const question = accept(bearerToken(request));
      if (!question || !(await isAsked(oauth))) throw new AppError('unauthenticated');
      request.platformQuestion = question;
    },
    handler: async ({ body, platformQuestion }) => {
      const question = platformQuestion?.readBody((body as { sealed?: unknown } | null)?.sealed);
      if (!platformQuestion || !question) throw new AppError('unauthenticated');
      return { sealed: platformQuestion.seal(await replyTo(oauth, question)) };
    },
  });
}

/** A hosted platform has the same secret, and gets tokens in another way. */
async function isAsked(oauth: OAuthContext): Promise<boolean> {
  try {
    return await oauth.tokenOwner.isService();
  } catch (error) {
    if (error instanceof PlatformError) throw new AppError('platform_unavailable', {}, { cause: error });
    throw error;
  }
}

async function replyTo(oauth: OAuthContext, question: Question): Promise<Reply> {
  try {
    switch (question.about) {
      case 'access': {
        const { about: _, workspaceId, credentialId, ...wanted } = question;
        const place = { workspaceId, credentialId };
        const { values, generation, expiresAt } = await accessForPlatform(oauth, place, { ...wanted, patienceMs });
        return { kind: 'access', values, generation, expiresAt };
      }
      case 'hand_back': {
        const { about: _, workspaceId, credentialId, ...tokens } = question;
        const generation = await handBackFromPlatform(oauth, { workspaceId, credentialId }, tokens);
        return { kind: 'handed_back', generation: generation ?? null };
      }
      default:
        return { kind: 'reached' };
    }
  } catch (error) {
    if (error instanceof CredentialNeedsAttention) return { kind: 'attention', whose: error.whose };
    if (!(error instanceof CredentialUnavailable)) throw error;
    return { kind: 'unavailable', reason: error.message, isBusy: error instanceof CredentialBusy };
  }
}
