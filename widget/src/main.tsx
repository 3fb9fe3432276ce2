import { render } from 'preact';

const root = document.getElementById('inlay');
if (root) render(<p>…</p>, root);
