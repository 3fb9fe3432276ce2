/** Code to copy: the backend's request and the page's snippet. Secrets are variables. */
import type { WidgetTokenRequest } from '@inlay/contract/tenancy/tokens';
import { requestTo } from '../../api/client.ts';
import { curlOf } from '../../api/curl.ts';

export const codeLanguages = { curl: 'curl', node: 'Node.js', python: 'Python' } as const;
export type CodeLanguage = keyof typeof codeLanguages;

export function backendCode(language: CodeLanguage, body: WidgetTokenRequest): string {
  const json = JSON.stringify(body, null, 2);
  if (language === 'curl') return curlOf(requestTo('POST /embedded/widget-token', { body }));
  if (language === 'node') {
    return `const response = await fetch(\`\${process.env.INLAY_URL}/api/v1/embedded/widget-token\`, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.INLAY_OPERATOR_TOKEN}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify(${indented(json, 2)}),
});
if (!response.ok) throw new Error(\`Inlay answered \${response.status}\`);
const { token } = await response.json();`;
  }
  return `import json, os, urllib.request

body = json.loads(r"""${json}""")
request = urllib.request.Request(
    os.environ["INLAY_URL"] + "/api/v1/embedded/widget-token",
    data=json.dumps(body).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["INLAY_OPERATOR_TOKEN"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    token = json.load(response)["token"]`;
}

export function pageCode(serviceUrl: string): string {
  return `<div id="sources"></div>
<script src="${serviceUrl}/embed.js"></script>
<script>
  const getToken = async () => {
    // Your own endpoint. It runs the backend code for the signed-in customer.
    const response = await fetch('/inlay-token', { method: 'POST' });
    return (await response.json()).token;
  };
  Inlay.mount(document.querySelector('#sources'), { getToken });
</script>`;
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
