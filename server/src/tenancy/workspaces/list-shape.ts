/** The properties of a list that decide how its SQL statement looks. */
export interface ListShape {
  byStatus: boolean;
  isFirst: boolean;
  /** A literal in the statement. As a parameter, it would make SQLite plan again each time. */
  limit: number;
}

/** Builds a statement once for each shape: the statements of a list differ only by its shape. */
export function oncePerShape<Statement>(build: (shape: ListShape) => Statement): (shape: ListShape) => Statement {
  const built = new Map<string, Statement>();
  return (shape) => {
    const key = `${shape.byStatus} ${shape.isFirst} ${shape.limit}`;
    const statement = built.get(key) ?? build(shape);
    built.set(key, statement);
    return statement;
  };
}
