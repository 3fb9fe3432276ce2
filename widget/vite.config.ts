import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig({
  root: path('.'),
  // Addresses in the bundle are relative: the service may live below a path.
  base: './',
  publicDir: false,
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  resolve: {
    alias: [
      { find: /^react$|^react-dom$/, replacement: 'preact/compat' },
      { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
      // Renders Markdown in descriptions, which are HTML here and rendered by form/description.tsx.
      { find: 'markdown-to-jsx/react', replacement: path('src/form/no-markdown.ts') },
    ],
    dedupe: ['preact'],
  },
  build: {
    outDir: path('../server/dist/widget'),
    emptyOutDir: true,
    manifest: 'manifest.json',
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: path('src/main.tsx'),
      // The form library says where React may render it; it makes no difference here.
      onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
    },
  },
});
