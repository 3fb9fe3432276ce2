/** Reads server-sent events. The browser's own reader hides the status of an answer and wants the names of all types. */

export interface StreamedEvent {
  position: number;
  type: string;
  workspaceId: string | null;
}

/** Gives a function that takes pieces of the stream and returns the events that are complete with them. */
export function createParser(): (piece: string) => StreamedEvent[] {
  let rest = '';
  return (piece) => {
    rest += piece;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    return blocks.flatMap(eventOf);
  };
}

function eventOf(block: string): StreamedEvent[] {
  const data = block
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
  if (data === '') return [];
  const { position, type, workspace_id } = JSON.parse(data) as {
    position: number;
    type: string;
    workspace_id: string | null;
  };
  return [{ position, type, workspaceId: workspace_id }];
}
