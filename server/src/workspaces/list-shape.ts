/** What makes the statements of two lists differ. */
export interface ListShape {
  byStatus: boolean;
  isFirst: boolean;
  /** Written out: SQLite plans by it, and would plan anew each time a value is bound. */
  limit: number;
}

/** The statements of a list differ only by its shape. */
export function oncePerShape<Statement>(build: (shape: ListShape) => Statement): (shape: ListShape) => Statement {
  const built = new Map<string, Statement>();
  return (shape) => {
    const key = `${shape.byStatus} ${shape.isFirst} ${shape.limit}`;
    const statement = built.get(key) ?? build(shape);
    built.set(key, statement);
    return statement;
  };
}
