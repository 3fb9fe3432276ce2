/** State that affects every screen: the network and the session. */
import { useEffect, useState } from 'preact/hooks';
import type { Session } from './api/session.ts';
import type { WidgetMode } from './page/address.ts';

/** A page with the embed library usually renews a token within this time, before the customer notices. */
const renewalGraceMs = 2_000;

export function useIsOnline(): boolean {
  const [isOnline, setOnline] = useState(navigator.onLine !== false);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine !== false);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return isOnline;
}

/** Whether a link was pressed in a read-only view, whose frame can't open windows. */
export function useRefusedLinks(isView: boolean): boolean {
  const [isRefused, setRefused] = useState(false);
  useEffect(() => {
    if (!isView) return;
    const refuse = (event: MouseEvent) => {
      if (!(event.target instanceof Element && event.target.closest('a'))) return;
      event.preventDefault();
      setRefused(true);
    };
    document.addEventListener('click', refuse);
    return () => document.removeEventListener('click', refuse);
  }, [isView]);
  return isRefused;
}

/** Whether to show that the session has ended. */
export function useIsExpired(session: Session, mode: WidgetMode): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (!session.isExpired()) setShown(false);
      else timer = setTimeout(() => setShown(true), mode === 'plain' ? 0 : renewalGraceMs);
    };
    look();
    const stop = session.watch(look);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [session, mode]);
  return isShown;
}
