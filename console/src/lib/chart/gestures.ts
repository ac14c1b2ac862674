/** Touch, mouse and wheel gestures on charts and the map. */
import type { Scale } from './scale';
import { panned, zoomed } from './scale';

export interface Point {
  x: number;
  y: number;
}

interface Handlers {
  /** Selects the area between two points. Without this, such a drag pans. */
  brush?: (part: { from: Point; to: Point } | null, isDone: boolean) => void;
  /** Whether dragging selects an area, even without the Shift key. */
  isBrushing?: () => boolean;
  hover: (point: Point | null) => void;
  click: (point: Point) => void;
}

interface PointerTarget extends Handlers {
  pan: (before: Point, at: Point) => void;
  /** One of two pointers has moved. */
  pinch: (before: Point, at: Point, other: Point) => void;
  wheel: (event: WheelEvent, at: Point) => void;
  double: (event: MouseEvent, at: Point) => void;
}

/** A pointer that moved less than this is a click. */
const CLICK_PIXELS = 4;

export function pointers(target: PointerTarget): (element: HTMLElement) => () => void {
  return (element) => {
    const held = new Map<number, Point>();
    let start: Point = { x: 0, y: 0 };
    let hasMoved = false;
    let isBrush = false;

    const point = (event: MouseEvent): Point => {
      const bounds = element.getBoundingClientRect();
      return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
    };

    function down(event: PointerEvent): void {
      if (event.button !== 0) return;
      start = point(event);
      held.set(event.pointerId, start);
      element.setPointerCapture(event.pointerId);
      hasMoved = held.size > 1;
      isBrush = !hasMoved && !!target.brush && (event.shiftKey || !!target.isBrushing?.());
      if (hasMoved) target.brush?.(null, false);
    }

    function move(event: PointerEvent): void {
      const at = point(event);
      const before = held.get(event.pointerId);
      if (before === undefined) {
        target.hover(at);
        return;
      }
      if (!hasMoved && Math.hypot(at.x - start.x, at.y - start.y) < CLICK_PIXELS) return;
      hasMoved = true;
      target.hover(null);
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      if (other) target.pinch(before, at, other);
      else if (isBrush) target.brush?.({ from: start, to: at }, false);
      else target.pan(before, at);
      held.set(event.pointerId, at);
    }

    function up(event: PointerEvent): void {
      if (!held.delete(event.pointerId) || !isBrush) return;
      isBrush = false;
      if (event.type === 'pointercancel') target.brush?.(null, false);
      else if (hasMoved) target.brush?.({ from: start, to: point(event) }, true);
    }

    // After a tap, browsers move the focus before they dispatch `click`. A panel opened here therefore keeps the focus.
    function click(event: MouseEvent): void {
      if (!hasMoved) target.click(point(event));
    }

    function wheel(event: WheelEvent): void {
      event.preventDefault();
      target.wheel(event, point(event));
    }

    const ended = new AbortController();
    const { signal } = ended;
    element.addEventListener('pointerdown', down, { signal });
    element.addEventListener('pointermove', move, { signal });
    element.addEventListener('pointerup', up, { signal });
    element.addEventListener('pointercancel', up, { signal });
    element.addEventListener('click', click, { signal });
    element.addEventListener('pointerleave', () => target.hover(null), { signal });
    element.addEventListener('dblclick', (event) => target.double(event, point(event)), { signal });
    element.addEventListener('wheel', wheel, { passive: false, signal });
    return () => ended.abort();
  };
}

interface GestureTarget extends Handlers {
  view: () => Scale;
  setView: (view: Scale) => void;
  /** Scrolls content taller than its container. Positive pixels reveal content below. */
  slide?: (pixels: number) => void;
}

/** The gestures of a time axis. */
export function gestures(target: GestureTarget): (element: HTMLElement) => () => void {
  const { view, setView } = target;
  return pointers({
    ...target,
    pan(before, at) {
      setView(panned(view(), before.x - at.x));
      target.slide?.(before.y - at.y);
    },
    pinch(before, at, other) {
      const factor = Math.max(Math.abs(before.x - other.x), 8) / Math.max(Math.abs(at.x - other.x), 8);
      setView(zoomed(panned(view(), (before.x - at.x) / 2), factor, (at.x + other.x) / 2));
    },
    wheel(event, { x }) {
      const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 300 : 1;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const delta = Math.max(-400, Math.min(400, event.deltaY * unit));
      setView(
        isSideways
          ? panned(view(), (event.deltaX || event.deltaY) * unit)
          : // Browsers report a touchpad pinch as `wheel` with `ctrlKey` and small deltas.
            zoomed(view(), Math.exp(delta * (event.ctrlKey ? 0.011 : 0.0017)), x),
      );
    },
    double: (event, { x }) => setView(zoomed(view(), event.shiftKey ? 2.5 : 0.4, x)),
  });
}
