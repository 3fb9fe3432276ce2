/* What a bare client does: fetches over connections that are kept alive. */
import { type Agent, request } from 'node:http';

export function fetchText(url: string, agent: Agent, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`${url} returned ${response.statusCode}.`));
      });
    });
    sent.on('error', reject).end();
  });
}
