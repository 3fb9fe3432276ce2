/** The look of the pages that the service itself serves. */
export const style = `body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; }
`;
