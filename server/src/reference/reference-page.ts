/** Renders an OpenAPI document as one readable page, without scripts. */
import { type Html, html } from '../http/html.ts';

export interface OpenApiDocument {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, { summary?: string }>>;
}

export function renderReference(document: OpenApiDocument): Html {
  return html`<!doctype html><title>${document.info.title}</title>`;
}
