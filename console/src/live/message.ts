/** Messages from the tab that reads events to all tabs, including itself. */

export type LiveState = 'connecting' | 'live' | 'polling' | 'offline';

export type Message =
  | { state: LiveState; position?: number | undefined }
  | { workspaceIds: string[]; count: number; position: number }
  /** Reading starts here. Earlier events may have been missed. */
  | { begins: number }
  /** The session with this id has ended. Ignored if the user has signed in again meanwhile. */
  | { ended: string };
