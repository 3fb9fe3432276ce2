import { expect, it } from 'vitest';
import { createParser } from './event-stream.ts';

const block = (position: number, workspace: string | null) =>
  `id: ${position}\nevent: sync.succeeded\ndata: ${JSON.stringify({ position, type: 'sync.succeeded', workspace_id: workspace })}\n\n`;

it('reads events however the stream is cut into pieces', () => {
  const whole = `: hello\n\n${block(1, 'a')}${block(2, null)}`;
  for (let cut = 0; cut < whole.length; cut++) {
    const parse = createParser();
    expect([...parse(whole.slice(0, cut)), ...parse(whole.slice(cut))]).toEqual([
      { position: 1, type: 'sync.succeeded', workspaceId: 'a' },
      { position: 2, type: 'sync.succeeded', workspaceId: null },
    ]);
  }
});
