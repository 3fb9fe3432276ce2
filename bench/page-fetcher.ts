/*
 * The ceiling of a sync of workspaces: a bare client that fetches the same pages, as many at a time. Of each page it
 * keeps only the number of items, which shows where the list ends.
 */
import { Agent, request } from 'node:http';
import { readPages } from '../server/src/platform/paging.ts';
import { answerQuestions } from './child-program.ts';

export interface PagesQuestion {
  url: string;
  token: string;
  organizationId: string;
  pageSize: number;
}

answerQuestions(
  async ({ url, token, organizationId, pageSize }: PagesQuestion): Promise<{ tookMs: number; pages: number }> => {
    const agent = new Agent({ keepAlive: true });
    const startedAt = performance.now();
    let pages = 0;
    const fetchPage = async (offset: number) => {
      const query = new URLSearchParams({ organizationId, limit: String(pageSize), offset: String(offset) });
      const { data } = JSON.parse(await fetchText(`${url}/workspaces?${query}`, token, agent)) as { data: unknown[] };
      return data;
    };
    for await (const _ of readPages(fetchPage)) pages += 1;
    agent.destroy();
    return { tookMs: performance.now() - startedAt, pages };
  },
);

function fetchText(url: string, token: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`A page was answered with ${response.statusCode}.`));
      });
    });
    sent.on('error', reject).end();
  });
}
