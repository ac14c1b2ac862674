/** Touch, mouse and wheel gestures on the axis. */
import type { Scale } from './scale';
import { panned, zoomed } from './scale';

interface GestureTarget {
  view: () => Scale;
  setView: (view: Scale) => void;
  /** Scrolls content taller than its container. Positive pixels reveal content below. */
  slide?: (pixels: number) => void;
  /** Whether dragging selects a range, even without the Shift key. */
  isBrushing: () => boolean;
  brush: (part: { from: number; to: number } | null, isDone: boolean) => void;
  hover: (point: { x: number; y: number } | null) => void;
  click: (point: { x: number; y: number }) => void;
}

/** A pointer that moved less than this is a click. */
const CLICK_PIXELS = 4;

export function gestures(target: GestureTarget): (element: HTMLElement) => () => void {
  return (element) => {
    const pointers = new Map<number, { x: number; y: number }>();
    let start = { x: 0, y: 0 };
    let hasMoved = false;
    let brushFrom: number | null = null;

    const point = (event: MouseEvent): { x: number; y: number } => {
      const bounds = element.getBoundingClientRect();
      return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
    };

    function down(event: PointerEvent): void {
      if (event.button !== 0) return;
      const at = point(event);
      pointers.set(event.pointerId, at);
      element.setPointerCapture(event.pointerId);
      start = at;
      if (pointers.size > 1) {
        hasMoved = true;
        brushFrom = null;
        target.brush(null, false);
        return;
      }
      hasMoved = false;
      brushFrom = event.shiftKey || target.isBrushing() ? at.x : null;
    }

    function move(event: PointerEvent): void {
      const at = point(event);
      const before = pointers.get(event.pointerId);
      if (before === undefined) {
        target.hover(at);
        return;
      }
      if (!hasMoved && Math.hypot(at.x - start.x, at.y - start.y) < CLICK_PIXELS) return;
      hasMoved = true;
      target.hover(null);
      if (brushFrom !== null) target.brush({ from: brushFrom, to: at.x }, false);
      else if (pointers.size === 1) {
        target.setView(panned(target.view(), before.x - at.x));
        target.slide?.(before.y - at.y);
      } else pinch(event.pointerId, before, at);
      pointers.set(event.pointerId, at);
    }

    function pinch(id: number, before: { x: number }, at: { x: number }): void {
      const otherPointer = [...pointers].find(([key]) => key !== id)?.[1];
      if (!otherPointer) return;
      const factor = Math.max(Math.abs(before.x - otherPointer.x), 8) / Math.max(Math.abs(at.x - otherPointer.x), 8);
      const middle = (at.x + otherPointer.x) / 2;
      target.setView(zoomed(panned(target.view(), (before.x - at.x) / 2), factor, middle));
    }

    function up(event: PointerEvent): void {
      const at = point(event);
      if (!pointers.delete(event.pointerId)) return;
      if (event.type === 'pointercancel') target.brush(null, false);
      else if (hasMoved && brushFrom !== null) target.brush({ from: brushFrom, to: at.x }, true);
      brushFrom = null;
    }

    // After a tap, browsers move the focus before they dispatch `click`. A panel opened here therefore keeps the focus.
    function click(event: MouseEvent): void {
      if (!hasMoved) target.click(point(event));
    }

    function wheel(event: WheelEvent): void {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 300 : 1;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isSideways) target.setView(panned(target.view(), (event.deltaX || event.deltaY) * unit));
      // Browsers report a touchpad pinch as `wheel` with `ctrlKey` and small deltas.
      else
        target.setView(
          zoomed(
            target.view(),
            Math.exp(Math.max(-400, Math.min(400, event.deltaY * unit)) * (event.ctrlKey ? 0.011 : 0.0017)),
            point(event).x,
          ),
        );
    }

    const double = (event: MouseEvent): void =>
      target.setView(zoomed(target.view(), event.shiftKey ? 2.5 : 0.4, point(event).x));
    const leave = (): void => target.hover(null);

    const ended = new AbortController();
    const { signal } = ended;
    element.addEventListener('pointerdown', down, { signal });
    element.addEventListener('pointermove', move, { signal });
    element.addEventListener('pointerup', up, { signal });
    element.addEventListener('pointercancel', up, { signal });
    element.addEventListener('click', click, { signal });
    element.addEventListener('pointerleave', leave, { signal });
    element.addEventListener('dblclick', double, { signal });
    element.addEventListener('wheel', wheel, { passive: false, signal });
    return () => ended.abort();
  };
}
