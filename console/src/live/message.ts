/** What the tab that reads tells the other tabs, and itself. */

export type LiveState = 'connecting' | 'live' | 'polling' | 'offline';

export type Message =
  | { state: LiveState; position?: number | undefined }
  | { workspaceIds: string[]; count: number; position: number }
  /** Reading begins here, and what was before is not known. */
  | { begins: number }
  /** This session has ended. Where somebody has signed in again meanwhile, a late word of the old one counts no more. */
  | { ended: string };
