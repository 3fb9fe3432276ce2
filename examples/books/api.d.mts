export const token: string;
export function startBooksApi(options: { port: number }): Promise<{ url: string; close(): void }>;
