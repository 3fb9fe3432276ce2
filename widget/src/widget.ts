/**
 * What every screen uses: the service, the page around the widget, the customer's data, and the way to other screens.
 */
import type { CheckWarning } from '@inlay/contract/pipelines/sources';
import type { Formatting } from '@inlay/ui/words/formatting.ts';
import { createContext, type RefObject } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api, Offer } from './api/api.ts';
import type { Host } from './page/host.ts';
import type { SignIn } from './sign-in/endpoints.ts';
import type { Pipelines } from './sources/progress.ts';
import type { Watching } from './sources/use-pipelines.ts';

/** Screens are kept in memory: the address belongs to the page around. */
export type Route =
  | { screen: 'choose' }
  | { screen: 'form'; offer: Offer }
  | { screen: 'connected'; sourceId: string; warnings: CheckWarning[] }
  | { screen: 'list' }
  | { screen: 'source'; sourceId: string; part?: SourcePart };

export type SourcePart = 'activity' | 'settings';

export interface Widget extends Pick<Watching, 'change' | 'look' | 'withoutLooks'> {
  api: Api;
  host: Host;
  allowedOrigin: string | undefined;
  formatting: Formatting;
  offers: readonly Offer[];
  pipelines: Pipelines;
  /** A sign-in to resume; consumed by the component that resumes it. */
  resumed: RefObject<SignIn | null>;
  /** Announces a text to screen readers. */
  announce(text: string): void;
  go(route: Route): void;
  /** Shows the first screen, which depends on what the customer has. */
  goHome(): void;
}

export const WidgetContext = createContext<Widget | undefined>(undefined);

export function useWidget(): Widget {
  const widget = useContext(WidgetContext);
  if (!widget) throw new Error('Outside the widget.');
  return widget;
}
