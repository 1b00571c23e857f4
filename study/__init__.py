"""What tamis is measured by: tables with known graphs, published networks, public tables, peers."""
