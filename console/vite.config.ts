import { fileURLToPath } from 'node:url';
import { pageConfig } from '../ui/vite-config.ts';

export default pageConfig(fileURLToPath(new URL('.', import.meta.url)));
