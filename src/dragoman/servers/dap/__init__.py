"""The DAP server: any editor that speaks the Debug Adapter Protocol can join a session or start one."""
