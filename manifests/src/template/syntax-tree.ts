/* What a template is parsed into. */

export type Expression =
  | { type: 'constant'; value: unknown }
  | { type: 'name'; name: string }
  | { type: 'attribute'; of: Expression; name: string }
  | { type: 'item'; of: Expression; key: Expression }
  | ({ type: 'slice'; of: Expression } & SliceBounds)
  | { type: 'list'; items: Expression[] }
  | { type: 'tuple'; items: Expression[] }
  | { type: 'dict'; entries: [Expression, Expression][] }
  | { type: 'not'; of: Expression }
  | { type: 'negative'; of: Expression }
  | { type: 'positive'; of: Expression }
  | { type: 'and'; left: Expression; right: Expression }
  | { type: 'or'; left: Expression; right: Expression }
  | { type: 'arithmetic'; operator: ArithmeticOperator; left: Expression; right: Expression }
  | { type: 'concatenation'; parts: Expression[] }
  | { type: 'comparison'; first: Expression; rest: { operator: ComparisonOperator; value: Expression }[] }
  | { type: 'condition'; test: Expression; then: Expression; otherwise?: Expression }
  | { type: 'call'; of: Expression; arguments: Arguments }
  | { type: 'filter'; of: Expression; name: string; arguments: Arguments }
  | { type: 'test'; of: Expression; name: string; arguments: Arguments };

export interface SliceBounds {
  start?: Expression;
  stop?: Expression;
  step?: Expression;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface Arguments {
  positional: Expression[];
  named: { name: string; value: Expression }[];
  /** `*list` and `**dict`. */
  rest?: Expression;
  namedRest?: Expression;
}

export type Target =
  | { type: 'name'; name: string }
  | { type: 'namespace'; name: string; attribute: string }
  | { type: 'tuple'; items: Target[] };

export interface Parameter {
  name: string;
  fallback?: Expression;
}

export interface FilterCall {
  name: string;
  arguments: Arguments;
}

export type Statement =
  | { type: 'data'; text: string }
  | { type: 'output'; value: Expression }
  | { type: 'if'; branches: { test: Expression; body: Statement[] }[]; otherwise: Statement[] }
  | {
      type: 'for';
      target: Target;
      items: Expression;
      test?: Expression;
      isRecursive: boolean;
      body: Statement[];
      otherwise: Statement[];
    }
  | { type: 'set'; target: Target; value: Expression }
  | { type: 'set block'; target: Target; filters: FilterCall[]; body: Statement[] }
  | { type: 'with'; values: { target: Target; value: Expression }[]; body: Statement[] }
  | { type: 'filter block'; filters: FilterCall[]; body: Statement[] }
  | { type: 'macro'; name: string; parameters: Parameter[]; body: Statement[] }
  | { type: 'call block'; call: Expression & { type: 'call' }; parameters: Parameter[]; body: Statement[] }
  | { type: 'scope'; body: Statement[] };
