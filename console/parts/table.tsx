import type { ComponentChildren } from 'preact';

/** A column of a table. */
export interface Column<Row> {
  head: string;
  /** Of what is aligned on the right. */
  isNumber?: boolean;
  /** Of what names the row. */
  isName?: boolean;
  /** Of long words that may be broken anywhere. */
  isLong?: boolean;
  cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  name: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

/** A table. On a narrow screen each row is a block of its own, in which every cell has its column's name before it. */
export const Table = <Row,>({ name, columns, rows, keyOf }: TableProps<Row>) => (
  <table aria-label={name}>
    <thead>
      <tr>
        {columns.map(({ head, isNumber }) => (
          <th key={head} scope="col" class={isNumber ? 'number' : undefined}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ head, isNumber, isName, isLong, cell }) =>
            isName ? (
              <th key={head} scope="row">
                {cell(row)}
              </th>
            ) : (
              <td key={head} class={isNumber ? 'number' : isLong ? 'long' : undefined} data-head={head}>
                {cell(row)}
              </td>
            ),
          )}
        </tr>
      ))}
    </tbody>
  </table>
);
