/**
 * The widget for unsaved templates. The service serves it as a separate page (widget.routes.ts) without an origin or token; the
 * console around it sends what to show in messages. Ordinary widgets never load this file, so they accept no such messages.
 */

import type { OfferedSourceTemplate } from '@inlay/contract/catalog/source-templates';
import type { PreviewMessage } from '@inlay/contract/embedding';
import { render } from 'preact';
import type { Api } from '../api/api.ts';
import { RequestFailure } from '../api/failure.ts';

/** After this time the next preview is shown, whatever it is still waiting for. */
const patienceMs = 2_000;

interface Preview {
  root: HTMLElement;
  /** The origin of the page around. */
  allowedOrigin: string | undefined;
  draw(api: Api, root: HTMLElement): void;
}

export function followDrafts({ root, allowedOrigin, draw }: Preview): void {
  let shown = root;
  let stopWaiting = () => {};
  addEventListener('message', ({ source, origin, data }: MessageEvent) => {
    if (source !== parent || origin !== allowedOrigin || !isPreviewMessage(data)) return;
    stopWaiting();
    // Double buffering: the next preview renders hidden and replaces the current one when complete.
    const next = root.cloneNode(false) as HTMLElement;
    next.hidden = true;
    document.body.append(next);
    draw(createPreviewApi(data.templates as OfferedSourceTemplate[]), next);
    stopWaiting = whenDrawn(next, () => {
      discard(shown);
      next.hidden = false;
      shown = next;
    });
  });
}

/** Returns a function that drops the hidden preview. */
function whenDrawn(next: HTMLElement, show: () => void): () => void {
  const finish = () => {
    stop();
    show();
  };
  const observer = new MutationObserver(() => isDrawn(next) && finish());
  observer.observe(next, { childList: true, subtree: true });
  const timer = setTimeout(finish, patienceMs);
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
  };
  return () => {
    stop();
    if (next.hidden) discard(next);
  };
}

const isDrawn = (root: HTMLElement) =>
  root.querySelector('h1:not(.inlay-unseen)') && !root.querySelector('.inlay-bone');

function discard(root: HTMLElement): void {
  render(null, root);
  root.remove();
}

function isPreviewMessage(data: unknown): data is PreviewMessage {
  if (typeof data !== 'object' || data === null) return false;
  const { inlay, type, templates } = data as Partial<PreviewMessage>;
  return inlay === 1 && type === 'preview' && Array.isArray(templates);
}

/** An API for a customer with these templates and no sources. */
function createPreviewApi(templates: readonly OfferedSourceTemplate[]): Api {
  const refuse = async () => {
    throw new RequestFailure('only_view');
  };
  const none = async () => [];
  return {
    // Signing in asks whether something is there to sign in with.
    request: async (route) => (route.startsWith('GET ') ? ({ data: [] } as never) : refuse()),
    listOffers: async () => [...templates],
    async getOffer(id) {
      const found = templates.find((template) => template.id === id);
      if (!found) throw new RequestFailure('not_found');
      return found;
    },
    listSources: none,
    getSource: refuse,
    createSource: refuse,
    updateSource: refuse,
    deleteSource: refuse,
    checkNew: refuse,
    checkExisting: refuse,
    getCheck: refuse,
    listConnections: none,
    startSync: refuse,
    cancelSync: refuse,
    listStreams: none,
    chooseForConnection: refuse,
    listJobs: none,
  };
}
