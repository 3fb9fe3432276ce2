/** A program that stays, as a single CommonJS file. */
export function bundleService(options: { entry: string; outfile: string }): Promise<void>;
