/** JSON as lines that can be folded, each cut into pieces that have a color. */

type PieceKind = 'name' | 'text' | 'number' | 'word' | 'mark';

interface Piece {
  kind: PieceKind;
  text: string;
}

interface Line {
  depth: number;
  pieces: Piece[];
  /** Index of the line that closes what this one opens; 0 where it opens nothing. */
  end: number;
  /** How many items are between, in words. */
  inside: string;
}

/** Texts longer than this are cut where they are shown; copying and saving take the whole. */
const TEXT_MAX = 1_000;

/** Returns a value as lines. */
export function linesOf(value: unknown): Line[] {
  const lines: Line[] = [];
  add(lines, value, 0, [], '');
  return lines;
}

function add(lines: Line[], value: unknown, depth: number, before: Piece[], after: string): void {
  const mark = (text: string): Piece => ({ kind: 'mark', text });
  if (typeof value !== 'object' || value === null) {
    lines.push({ depth, pieces: [...before, scalar(value), ...(after ? [mark(after)] : [])], end: 0, inside: '' });
    return;
  }
  const isList = Array.isArray(value);
  const items: [string | null, unknown][] = isList ? value.map((item) => [null, item]) : Object.entries(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) {
    lines.push({ depth, pieces: [...before, mark(open + close + after)], end: 0, inside: '' });
    return;
  }
  const inside = `${items.length.toLocaleString('en')} ${isList ? 'item' : 'field'}${items.length === 1 ? '' : 's'}`;
  const line: Line = { depth, pieces: [...before, mark(open)], end: 0, inside };
  lines.push(line);
  items.forEach(([name, item], index) => {
    const named: Piece[] = name === null ? [] : [{ kind: 'name', text: JSON.stringify(name) }, mark(': ')];
    add(lines, item, depth + 1, named, index < items.length - 1 ? ',' : '');
  });
  line.end = lines.length;
  lines.push({ depth, pieces: [mark(close + after)], end: 0, inside: '' });
}

function scalar(value: unknown): Piece {
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    return {
      kind: 'text',
      text:
        text.length > TEXT_MAX
          ? `${text.slice(0, TEXT_MAX)}… ${(text.length - TEXT_MAX).toLocaleString('en')} more characters`
          : text,
    };
  }
  return { kind: typeof value === 'number' ? 'number' : 'word', text: String(value) };
}

/** Returns the indexes of the lines to show when some are folded. */
export function shownLines(lines: Line[], folded: ReadonlySet<number>): number[] {
  const shown: number[] = [];
  for (let index = 0; index < lines.length; index++) {
    shown.push(index);
    // What is folded shows its first line alone, which then stands for the last one too.
    if (folded.has(index)) index = lines[index]?.end ?? index;
  }
  return shown;
}

/** Returns which lines are folded so that only so many levels are open. */
export function foldedBelow(lines: Line[], depth: number): Set<number> {
  return new Set(lines.flatMap((line, index) => (line.end > 0 && line.depth >= depth ? [index] : [])));
}
