import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from './draft';
import { snippet } from './snippets';

const HOSTILE = [
  "it's",
  '"; rm -rf ~; echo "',
  '$(touch /tmp/x) `id` $HOME !!',
  'back\\slash \\n',
  'two\nlines\r\n',
  '@/etc/passwd',
  '%20 {a,b} [1-3]',
  '\u2028\u202e\u0007 é 日本 😀',
  '{"a": "\'"}',
  "'''",
  '"""',
  '{% raw %}',
  '#"#',
  '-- x',
];
const request = (json: unknown): WireRequest => ({
  method: 'POST',
  path: 'v1/travel',
  query: {},
  headers: { 'Content-Type': 'application/json', 'If-Match': '"it\'s"' },
  json,
  text: null,
  file: null,
});

/** Runs a shell command in which `curl` prints its arguments, one a line, as JSON. */
function run(command: string): string[] {
  const curl = 'curl() { for word in "$@"; do printf "%s\\0" "$word"; done; }';
  return execFileSync('sh', ['-c', `${curl}\n${command}`], {
    env: { TIMENAV_KEY: 'tnk_key', PATH: process.env.PATH },
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1);
}

describe('curl', () => {
  it('arrives as it was typed, whatever is in it', () => {
    for (const text of HOSTILE) {
      const words = run(snippet('curl', request({ location: text }), 'http://x/', false));
      expect(JSON.parse(words[words.indexOf('--data-raw') + 1]!)).toEqual({ location: text });
      expect(words).toContain('Authorization: Bearer tnk_key');
      expect(words).toContain('If-Match: "it\'s"');
      expect(words).toHaveLength(11);
    }
  });

  it('sends a file by its name, and no credentials where none are asked for', () => {
    const file = new File(['x'], "it's $x.csv");
    const words = run(snippet('curl', { ...request(undefined), file }, 'http://x/', true));
    expect(words[words.indexOf('--data-binary') + 1]).toBe("@it's $x.csv");
    expect(words.join(' ')).not.toContain('Bearer');
  });
});

describe('Python', () => {
  it('reads what was typed', () => {
    const code = snippet(
      'python',
      request({ texts: HOSTILE, yes: true, no: false, nothing: null, big: 9007199254740991, small: 1e-7, empty: {} }),
      'http://x/',
      false,
    );
    const body = /^body = ([\s\S]*?)^request = /m.exec(code)?.[1] ?? '';
    const read: unknown = JSON.parse(
      execFileSync('python3', ['-c', `import json, sys\nprint(json.dumps(eval(sys.stdin.read())))`], {
        input: body.trim(),
        encoding: 'utf8',
      }),
    );
    expect(read).toEqual({
      texts: HOSTILE,
      yes: true,
      no: false,
      nothing: null,
      big: 9007199254740991,
      small: 1e-7,
      empty: {},
    });
    execFileSync('python3', ['-c', 'import ast, sys\nast.parse(sys.stdin.read())'], { input: code });
  });
});

describe('Rust', () => {
  it('has literals that a compiler reads', () => {
    const code = snippet(
      'rust',
      request({ text: 'a"b\\c\n\r\u202e\u0000é', big: 9007199254740991, list: [1, null, true] }),
      'http://x/',
      false,
    );
    expect(code).toContain(String.raw`"text": "a\"b\\c\n\r\u{202e}\u{0}é"`);
    expect(code).toContain('"big": 9007199254740991_i64');
    expect(code).toContain('.bearer_auth(std::env::var("TIMENAV_KEY")?)');
    expect(code).not.toContain('Content-Type');
  });

  it('names methods that have no constant', () => {
    expect(snippet('rust', { ...request({ a: 1 }), method: 'QUERY' }, 'http://x/', false)).toContain(
      'Method::from_bytes(b"QUERY")?',
    );
  });
});

describe('all of them', () => {
  it('leave out secrets', () => {
    for (const language of ['curl', 'python', 'rust'] as const) {
      const code = snippet(
        language,
        request({ encryption_key: 'hush', password: 'hush', data: {} }),
        'http://x/',
        false,
      );
      expect(code).not.toContain('hush');
      expect(code).toContain('YOUR_ENCRYPTION_KEY');
    }
  });
});
